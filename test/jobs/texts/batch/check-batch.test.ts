import { describe, expect, test } from 'vitest';
import {
  checkBatch,
  type Preview,
  previewBatch,
  refusals,
} from '../../../../lib/jobs/texts/batch/check-batch.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import type { ScoreCache } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { scoreTexts } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import type { InputRow } from '../fakes.ts';
import { row, rowsOf, scriptedAnalyze, worker } from '../fakes.ts';
import { batchOf, mixedRows, world } from './batch-suite.ts';

const { cache } = worker(scriptedAnalyze().analyze);

/** The number of requests in ten days at one a second. */
const TEN_DAYS = 864_000;

const previewOf = (calls: number): Preview => ({
  rows: calls + 5,
  badRows: 0,
  bad: [],
  texts: calls + 1,
  cached: 1,
  calls,
  seconds: calls,
});

test.each([
  ['as many calls as it may make', { calls: 10, rate: 1, maxCalls: 10 }, []],
  ['one call over its limit', { calls: 11, rate: 1, maxCalls: 10 }, ['11 calls, over the limit of 10']],
  ['calls that take ten days', { calls: TEN_DAYS, rate: 1 }, []],
  [
    'calls that take a moment longer than ten days',
    { calls: TEN_DAYS + 1, rate: 1 },
    ['864001 calls, which take 10.1 days at 1 a second, over the limit of 10 days'],
  ],
  [
    'calls that take more than ten days at ten a second',
    { calls: 20 * TEN_DAYS, rate: 10 },
    ['17280000 calls, which take 20 days at 10 a second, over the limit of 10 days'],
  ],
  [
    'calls over both limits',
    { calls: 2 * TEN_DAYS, rate: 1, maxCalls: 1 },
    ['1728000 calls, over the limit of 1', '1728000 calls, which take 20 days at 1 a second'],
  ],
])('the check of a batch accepts it or not, with %s', (_, { calls, ...limits }, reasons) => {
  expect(refusals(previewOf(calls), limits)).toEqual(
    reasons.map((reason) => expect.stringContaining(reason)),
  );
});

/** Rows, and how often they were opened. */
function countOpens(rows: readonly InputRow[]) {
  let opened = 0;
  return {
    opened: () => opened,
    rows: async function* open() {
      opened += 1;
      yield* rows;
    },
  };
}

describe('the check of a batch', () => {
  const two = [row(1, 'good'), { line: 2, fault: 'no text' }];

  test('only counts rows if the rate allows a call for each row', async () => {
    const { rows, opened } = countOpens(two);

    const checked = await checkBatch(batchOf([], { rows }), { cache, rate: 2 / TEN_DAYS });

    expect(checked).toEqual({ kind: 'accepted', rows: 2 });
    expect(opened()).toBe(1);
  });

  test('previews the calls if the rate does not allow a call for each row, or if calls are limited', async () => {
    const { rows, opened } = countOpens(two);

    const slow = await checkBatch(batchOf([], { rows }), { cache, rate: 1.9 / TEN_DAYS });
    expect(opened()).toBe(2);
    const limited = await checkBatch(batchOf([], { rows }), { cache, rate: 2, maxCalls: 1 });

    expect([slow, limited]).toEqual([
      { kind: 'accepted', rows: 2 },
      { kind: 'accepted', rows: 2 },
    ]);
    expect(opened()).toBe(3);
  });

  test.each([undefined, 1])('stops at the caller’s signal with a limit of %s calls', async (maxCalls) => {
    const signal = AbortSignal.abort(new Error('enough'));

    await expect(checkBatch(batchOf(two), { cache, rate: 2, maxCalls, signal })).rejects.toThrow('enough');
  });

  test('accepts a name of at most 114 characters, other than the name of the score cache', async () => {
    const named = async (batch: string) =>
      (await checkBatch(batchOf(two, { batch }), { cache, rate: 2 })).kind;

    expect(await named('b'.repeat(114))).toBe('accepted');
    expect(await named('b'.repeat(115))).toBe('refused');
    expect(await named('a/b')).toBe('refused');
  });
});

describe('a preview', () => {
  const distinct = new Set(mixedRows.flatMap((each) => ('text' in each ? [each.text] : [])));

  test('counts rows, distinct texts, and the calls for texts that are not cached', async () => {
    const { split, scoring } = world();
    await scoreTexts([{ id: '1', text: 'good 0' }], {}, scoring);

    expect(await previewBatch({ request: {}, rows: rowsOf(mixedRows) }, split)).toEqual({
      rows: 230,
      badRows: 4,
      bad: [50, 100, 150, 200].map((line) => ({ line, fault: 'no text' })),
      texts: distinct.size,
      cached: 1,
      calls: distinct.size - 1,
      seconds: Math.ceil((distinct.size - 1) / 2),
    });
  });

  test('refuses a batch over its limit of calls before anything is sent', async () => {
    const { split, messages, store } = world();

    const refused = await splitBatch(batchOf(mixedRows), { ...split, maxCalls: 100 });

    expect(refused).toMatchObject({
      kind: 'refused',
      reasons: [
        `230 rows have ${distinct.size} distinct texts, of which 0 are cached: ${distinct.size} calls, over the limit of 100`,
      ],
      preview: { calls: distinct.size },
    });
    expect([messages.length, store.objects.size]).toEqual([0, 0]);
  });

  test('counts equal texts once when it checks that the calls take at most ten days', async () => {
    const { split } = world();
    const rows = Array.from({ length: 100 }, (_, index) => row(index, 'good'));

    expect(await splitBatch(batchOf(rows), { ...split, rate: 0.0001 })).toMatchObject({ kind: 'split' });
  });

  test('looks up a hundred texts at a time in the score cache', async () => {
    const { split } = world();
    const sizes: number[] = [];
    const lookup: ScoreCache['lookup'] = (requests) => {
      sizes.push(requests.length);
      return split.cache.lookup(requests);
    };
    const rows = rowsOf(Array.from({ length: 120 }, (_, at) => row(at + 1, `text ${at}`)));

    await previewBatch({ request: {}, rows }, { ...split, cache: { lookup } });

    expect(sizes).toEqual([100, 20]);
  });
});

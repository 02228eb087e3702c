import { describe, expect, test } from 'vitest';
import { cacheKey } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { type Scored, scoreTexts } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import { type Analyze, createWaitLimit } from '../../../../lib/jobs/texts/scoring/scoring-session.ts';
import type { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { PlatformError } from '../../../../lib/platform/platform-error.ts';
import type { Table } from '../../../../lib/table/table.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';
import {
  busy,
  HOST,
  scriptedAnalyze,
  sentBy,
  sentimentOf,
  unavailable,
  unreached,
  worker,
} from '../fakes.ts';

const NOW = 1_000_000;
const textsOf = (...texts: readonly string[]) => texts.map((text, index) => ({ id: `t${index}`, text }));
const resultsOf = (scored: Scored) => (scored.kind === 'later' ? [] : scored.results);
const conflict: PlatformFailure = { kind: 'status', status: 409 };

/** A table that counts its reads, and fails the first `failingResults` puts of results. */
function watched(failingResults = 0) {
  const memory = createMemoryTable();
  const counted = { reads: 0, results: 0 };
  const table: Table = {
    ...memory,
    getAll(...given) {
      counted.reads += 1;
      return memory.getAll(...given);
    },
    async put(key, row, options) {
      if (row['state'] === 'SCORED') {
        counted.results += 1;
        if (counted.results <= failingResults) throw new Error('no room');
      }
      return memory.put(key, row, options);
    },
  };
  return { table, counted };
}

const errorOf = (failure: PlatformFailure) =>
  new PlatformError(failure, { operation: 'analyzeSentiment', about: 'a text', attempts: 1 });

test('once the deadline has passed, nothing is read', async () => {
  const { table, counted } = watched();
  const { options } = worker(scriptedAnalyze().analyze, table);

  await scoreTexts(textsOf('good'), {}, { ...options, deadlineMs: NOW });

  expect(counted.reads).toBe(0);
});

test.each([
  ['is up before the send is recorded, nothing is recorded', 20, 0],
  ['is up before the call leaves, the call is not sent, and its record is withdrawn', 10, 10],
])('if time %s', async (_, beforeMs, afterMs) => {
  let isSent = false;
  const one = worker(async (request, { beforeSend, onSend } = {}) => {
    one.pass(beforeMs);
    await beforeSend?.();
    one.pass(afterMs);
    onSend?.();
    isSent = true;
    return sentimentOf(request);
  });

  const scored = await scoreTexts(textsOf('good'), {}, { ...one.options, deadlineMs: NOW + 20 });

  expect([scored.kind, isSent]).toEqual(['later', false]);
  expect(await one.table.get(cacheKey(HOST, { text: 'good' }))).toBeUndefined();
});

test('a call that records its send twice counts one send', async () => {
  const { options } = worker(async (request, { beforeSend, onSend } = {}) => {
    await beforeSend?.();
    await beforeSend?.();
    onSend?.();
    return sentimentOf(request);
  });

  expect(resultsOf(await scoreTexts(textsOf('good'), {}, options))).toMatchObject([{ calls: 1 }]);
});

describe('once calls have left, a text waits for its slot', () => {
  const waits = (waitMs: number): PlatformFailure => ({ kind: 'wait', waitMs, maxWaitMs: 20_000 });

  test.each([
    ['if that takes at most two minutes', 120_000, {}, 'scored'],
    ['but not if that takes longer', 120_001, {}, 'later'],
    ['but not past the deadline', 40_000, { deadlineMs: NOW + 40_000 }, 'later'],
  ])('%s', async (_, waitMs, more, kind) => {
    const { analyze } = scriptedAnalyze({ bad: [waits(waitMs)] });
    const { options } = worker(analyze);

    const scored = await scoreTexts(textsOf('good', 'bad'), {}, { ...options, ...more, concurrency: 1 });

    expect(scored.kind).toBe(kind);
  });
});

describe('a failure of the table', () => {
  const broken: Table = {
    ...createMemoryTable(),
    getAll: async () => {
      throw new Error('no table');
    },
  };

  test('stops the session, and is reported for every text', async () => {
    const { options } = worker(scriptedAnalyze().analyze, broken);

    const scored = await scoreTexts(textsOf('good', 'bad'), {}, { ...options, concurrency: 1 });

    expect(scored).toMatchObject({
      kind: 'stopped',
      isSystemic: false,
      progress: 0,
      error: { message: 'no table' },
      results: [{ error: 'not scored: no table' }, { error: 'not scored: no table' }],
    });
  });

  test('also stops a text that was waiting for its slot', async () => {
    const memory = createMemoryTable();
    const half: Table = {
      ...memory,
      getAll: async (keys) => {
        if (keys.length === 20) return memory.getAll(keys);
        await new Promise(setImmediate);
        throw new Error('no table');
      },
    };
    const { analyze } = scriptedAnalyze();
    const waiting: Analyze = (request, options) =>
      request.text !== 'text 0'
        ? analyze(request, options)
        : new Promise((_resolve, reject) =>
            options?.signal?.addEventListener('abort', () => reject(options.signal?.reason)),
          );
    const { options } = worker(waiting, half);

    const scored = await scoreTexts(
      textsOf(...Array.from({ length: 21 }, (_, index) => `text ${index}`)),
      {},
      options,
    );

    const results = resultsOf(scored);
    expect([results[0], results[20]]).toMatchObject([
      { error: 'not scored: no table' },
      { error: 'not scored: no table' },
    ]);
    expect(results.filter(({ result }) => result !== undefined)).toHaveLength(19);
  });
});

describe('a text that another worker scores', () => {
  const theirs = { ...sentimentOf({ text: 'good' }), model: 'm2' };

  test('between the lookup and the send costs nothing', async () => {
    const table = createMemoryTable();
    const other = worker(scriptedAnalyze().analyze, table, 'other');
    const { options } = worker(async (_, { beforeSend } = {}) => {
      await (await sentBy(other, 'good')).finish(theirs);
      await beforeSend?.();
      return sentimentOf({ text: 'good' });
    }, table);

    const scored = await scoreTexts(textsOf('good'), {}, options);

    expect(resultsOf(scored)).toEqual([{ id: 't0', result: theirs, cached: true, calls: 0, paidAgain: 0 }]);
  });

  test('while its call is in flight gets the other worker’s result and calls', async () => {
    const table = createMemoryTable();
    const other = worker(scriptedAnalyze().analyze, table, 'other');
    other.pass(90_000);
    const { options } = worker(async (_, { beforeSend, onSend } = {}) => {
      await beforeSend?.();
      onSend?.();
      await (await sentBy(other, 'good')).finish(theirs);
      return sentimentOf({ text: 'good' });
    }, table);

    const scored = await scoreTexts(textsOf('good'), {}, options);

    expect(resultsOf(scored)).toEqual([{ id: 't0', result: theirs, cached: true, calls: 0, paidAgain: 0 }]);
  });
});

describe('a retry', () => {
  test.each([
    ['would come at the deadline is not waited for', 7_000, [250]],
    ['would come just before the deadline is waited for', 7_001, [7_000]],
  ])('that %s', async (_, leftMs, slept) => {
    const { analyze } = scriptedAnalyze({ good: [busy] });
    const one = worker(analyze);

    const scored = await scoreTexts(textsOf('good'), {}, { ...one.options, deadlineMs: NOW + leftMs });

    expect(one.slept).toEqual(slept);
    expect(resultsOf(scored)).toMatchObject([{ calls: 1 }]);
  });

  test('is not begun if its wait ends after the time that a text may take', async () => {
    const { analyze } = scriptedAnalyze({ good: [busy, busy, busy] });
    const one = worker(analyze);

    const scored = await scoreTexts(textsOf('good'), {}, { ...one.options, retry: { budgetMs: 14_000 } });

    expect(scored).toMatchObject({ kind: 'stopped', error: { failure: { status: 429 } } });
    expect(one.slept).toEqual([7_000, 7_000]);
  });

  test('is not begun after attempts that together took that time; an attempt that never left counts as no time', async () => {
    let attempts = 0;
    const one = worker(async (_, { beforeSend, onSend } = {}) => {
      attempts += 1;
      if (attempts === 1) throw errorOf(unreached);
      await beforeSend?.();
      onSend?.();
      one.pass(7_000);
      throw errorOf(unavailable);
    });

    const scored = await scoreTexts(textsOf('good'), {}, { ...one.options, retry: { budgetMs: 14_000 } });

    expect(resultsOf(scored)).toMatchObject([{ calls: 2, error: expect.stringContaining('503') }]);
    expect(attempts).toBe(3);
  });
});

test('the next text gets its turn as soon as the call for the previous text has left', async () => {
  const bothHaveLeft = Promise.withResolvers<void>();
  const left: string[] = [];
  const { options } = worker(async (request, { beforeSend, onSend } = {}) => {
    await beforeSend?.();
    onSend?.();
    left.push(request.text);
    if (left.length === 2) bothHaveLeft.resolve();
    await bothHaveLeft.promise;
    return sentimentOf(request);
  });

  const scored = await scoreTexts(textsOf('good', 'bad'), {}, { ...options, waitLimit: createWaitLimit(1) });

  expect(resultsOf(scored)).toMatchObject([{ calls: 1 }, { calls: 1 }]);
});

describe('a result that cannot be stored', () => {
  test('is stored later', async () => {
    const { table, counted } = watched(2);
    const one = worker(scriptedAnalyze().analyze, table);

    const scored = await scoreTexts(textsOf('good'), {}, one.options);

    expect(resultsOf(scored)).toMatchObject([{ calls: 1, cached: false }]);
    expect(one.slept).toEqual([500, 1_000]);
    expect(counted.results).toBe(3);
  });

  test('is returned anyway, with its calls', async () => {
    const { table, counted } = watched(100);
    const one = worker(scriptedAnalyze().analyze, table);

    const scored = await scoreTexts(textsOf('good'), {}, one.options);

    expect(resultsOf(scored)).toEqual([
      { id: 't0', result: sentimentOf({ text: 'good' }), cached: false, calls: 1, paidAgain: 0 },
    ]);
    expect(one.slept).toEqual([500, 1_000, 2_000]);
    expect(counted.results).toBe(4);
  });
});

test('a session that is requeued says how many distinct texts wait', async () => {
  const tooLong: PlatformFailure = { kind: 'wait', waitMs: 200_000, maxWaitMs: 20_000 };
  const { analyze } = scriptedAnalyze({ bad: [tooLong] });
  const { options } = worker(analyze);

  const scored = await scoreTexts(textsOf('good', 'bad', 'bad', 'fine'), {}, { ...options, concurrency: 1 });

  expect(scored).toEqual({ kind: 'later', waiting: 2, delayMs: 200_000 });
});

test('waiting for the texts of other workers ends with the caller’s abort', async () => {
  const table = createMemoryTable();
  await sentBy(worker(scriptedAnalyze().analyze, table, 'other'), 'good');
  const { options } = worker(scriptedAnalyze().analyze, table);
  const sleep = () => Promise.reject(new DOMException('stop', 'AbortError'));

  const scored = await scoreTexts(textsOf('good'), {}, { ...options, sleep });

  expect(scored).toMatchObject({ kind: 'stopped', isSystemic: false, error: { message: 'stop' } });
});

test('the calls of a failed text stay in the cache until they are recorded', async () => {
  const { analyze } = scriptedAnalyze({ odd: [conflict] });
  const { options, table } = worker(analyze);
  const rowOf = async (text: string) => (await table.get(cacheKey(HOST, { text })))?.row;

  const scored = await scoreTexts(textsOf('odd', 'good'), {}, options);
  const before = await rowOf('odd');
  if (scored.kind === 'scored') await scored.settle();

  expect(resultsOf(scored)).toMatchObject([
    { calls: 1, error: expect.stringContaining('409') },
    { calls: 1 },
  ]);
  expect(before).toMatchObject({ state: 'FREE', sends: 1 });
  expect(await rowOf('odd')).toBeUndefined();
  expect(await rowOf('good')).toMatchObject({ state: 'SCORED' });
});

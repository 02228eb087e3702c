import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_MESSAGE_BYTES, sentBytes } from '../../../../lib/jobs/queue/queue.ts';
import { readBatchStatus } from '../../../../lib/jobs/texts/batch/batch-status.ts';
import { endChunk, failChunk, scoreChunk } from '../../../../lib/jobs/texts/batch/score-chunk.ts';
import { checkContinues, splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { scoreChecks } from '../../../../lib/jobs/types/score/message.ts';
import type { Table } from '../../../../lib/table/table.ts';
import { sampled, scaled } from '../../../scale.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';
import { crashing, lost, refusedText, row, scriptedAnalyze } from '../fakes.ts';
import {
  batchOf,
  mixedRows,
  partLines,
  resultsOf,
  runBatch,
  scheduled,
  summaryOf,
  TOPICS,
  world,
} from './batch-suite.ts';

const IT_FAILED = { error: 'it failed', jobId: 'b1.chunk-00000' };

test('a batch becomes one job per chunk, whose texts have their lines as ids', async () => {
  const { split, messages } = world();

  const outcome = await splitBatch(batchOf(mixedRows, { request: TOPICS }), split);

  expect(outcome).toMatchObject({ kind: 'split', chunks: 3, rows: 230, badRows: 4, summary: undefined });
  expect(
    messages.map(({ id, batch, chunk, texts, topics }) => [id, batch, chunk, texts.length, topics]),
  ).toEqual([
    ['b1.chunk-00000', 'b1', 0, 98, TOPICS.topics],
    ['b1.chunk-00001', 'b1', 1, 98, TOPICS.topics],
    ['b1.chunk-00002', 'b1', 2, 30, TOPICS.topics],
  ]);
  expect(messages[1]?.texts[0]).toEqual({ id: '101', text: 'bad 100' });
  expect(messages.map((message) => scoreChecks.schema.safeParse(message).success)).toEqual([
    true,
    true,
    true,
  ]);
});

test('splitting sends messages ten at a time, and writes the header after all of them', async () => {
  const { split, storage } = world();
  const sent: number[] = [];
  const headers: unknown[] = [];
  const send = async (messages: readonly unknown[]) => {
    sent.push(messages.length);
    headers.push(await storage.table.get({ partition: 'batch#b1', sort: '_header' }));
  };

  await splitBatch(batchOf(Array.from({ length: 1_150 }, (_, index) => row(index, `text ${index}`))), {
    ...split,
    send,
  });

  expect(sent).toEqual([10, 2]);
  expect(headers).toEqual([undefined, undefined]);
});

test('every row has a line in its part, in source order', async () => {
  const one = world({}, scriptedAnalyze({ odd: [refusedText] }));
  const rows = [
    { line: 2, id: 'a', text: 'good', columns: { shop: 'Bonn', n: '1' } },
    { line: 3, fault: 'no text' },
    row(4, 'odd'),
  ];

  await runBatch(batchOf(rows), one);

  expect(partLines(one.store)).toEqual([
    {
      id: 'a',
      line: 2,
      columns: { shop: 'Bonn', n: '1' },
      textHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      sentiment: 'positive',
      sent: { sentiment: 'POSITIVE' },
      model: 'm1',
      calls: 1,
      cached: 0,
      paidAgain: 0,
      tokens: { input: 4, output: 1, total: 5, reasoning: 0 },
    },
    { line: 3, error: 'no text' },
    {
      id: 'user-4',
      line: 4,
      textHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      error: expect.stringContaining('responded with 400'),
    },
  ]);
});

test('the summary agrees with a count of the lines', async () => {
  const one = world({}, scriptedAnalyze({ 'good 0': [lost], 'bad 1': [refusedText], 'bad 2': [lost, lost] }));

  await runBatch(batchOf(mixedRows, { request: TOPICS }), one);

  const lines = partLines(one.store);
  const of = (mood: string) =>
    lines.filter(({ topicSentiments }) => (topicSentiments as { Price?: string } | undefined)?.Price === mood)
      .length;
  const summary = summaryOf(one.store);
  const scored = lines.filter(({ topicSentiments }) => topicSentiments !== undefined).length;
  expect(summary).toMatchObject({
    rows: lines.length,
    scored,
    bad: 4,
    failed: lines.length - scored - 4,
    erased: 0,
    calls: one.paid.length,
    paidAgain: 3,
    sentiments: {
      overall: {},
      topics: {
        Price: { negative: of('negative'), positive: of('positive') },
        Service: { negative: of('negative'), positive: of('positive') },
      },
    },
    badRows: [50, 100, 150, 200].map((line) => ({ line, fault: 'no text' })),
  });
  // A text that was paid for twice had two calls but one response, and only responses report tokens.
  const paidTexts = [...new Set(one.paid)];
  expect(summary.cached).toBe(scored - paidTexts.length);
  expect(summary.tokens).toEqual({
    input: paidTexts.reduce((sum, text) => sum + text.length, 0),
    output: paidTexts.length,
    total: paidTexts.reduce((sum, text) => sum + text.length + 1, 0),
    reasoning: 0,
  });
  expect(summary.parts.map(({ rows }: { rows: number }) => rows)).toEqual([100, 100, 30]);
});

test('the summary counts topics of any name, and sentiments in either case', async () => {
  const names = ['__proto__', 'constructor', ''];
  const one = world(
    {},
    {
      paid: [],
      analyze: async (_request, { beforeSend, onSend } = {}) => {
        await beforeSend?.();
        onSend?.();
        return {
          type: 'TARGETED',
          topicSentiments: Object.fromEntries(names.map((name) => [name, 'Not_Applicable'])),
        };
      },
    },
  );

  await runBatch(batchOf([row(1, 'good'), row(2, 'bad')]), one);

  const { topics } = summaryOf(one.store).sentiments;
  expect(Object.entries(topics)).toEqual([
    ['', { not_applicable: 2 }],
    ['__proto__', { not_applicable: 2 }],
    ['constructor', { not_applicable: 2 }],
  ]);
});

test.each([
  ['other rows', batchOf([row(1, 'changed')])],
  ['another request', batchOf(mixedRows, { request: TOPICS })],
  ['fewer rows', batchOf(mixedRows.slice(0, 200))],
  ['one row fewer in the middle', batchOf(mixedRows.toSpliced(150, 1))],
  ['a changed row after unchanged ones', batchOf(mixedRows.with(229, row(230, 'changed')))],
])('a batch of %s under the same name is refused', async (_, other) => {
  const { split } = world();
  await splitBatch(batchOf(mixedRows), split);

  await expect(splitBatch(other, split)).rejects.toThrow('batch b1 already exists with other rows');
});

test('added rows continue a batch: only they are sent, and one summary covers all', async () => {
  const one = world();
  const more = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => row(from + at, `added ${from + at}`));
  const grown = [...mixedRows, ...more(231, 90)];
  const again = [...grown, ...more(321, 5)];
  await runBatch(batchOf(mixedRows), one);
  const paid = one.paid.length;

  expect(await checkContinues(batchOf(grown), one.split)).toBe(230);
  await runBatch(batchOf(grown), one);
  await runBatch(batchOf(again), one);
  await runBatch(batchOf(again), one);

  expect(one.paid.length - paid).toBe(95);
  expect(summaryOf(one.store)).toMatchObject({ rows: 325, failed: 0, chunks: 5 });
  expect(await readBatchStatus('b1', one.storage)).toMatchObject({ status: 'done', rows: 325, rowsLeft: 0 });
});

test('a batch with added rows is reported as partly split, and one with changed rows is refused before anything is sent', async () => {
  const one = world();
  const grown = [...mixedRows, ...mixedRows];
  await runBatch(batchOf(mixedRows), one);
  await splitBatch(batchOf(grown), {
    ...one.split,
    send: async () => {
      throw new Error('stopped');
    },
  }).catch(() => undefined);
  const sent = one.messages.length;

  const status = await readBatchStatus('b1', one.storage);
  const changed = splitBatch(batchOf(grown.with(400, row(401, 'changed'))), one.split);

  expect(status).toMatchObject({ status: 'unfinished', rows: null });
  await expect(changed).rejects.toThrow('you may add rows at the end');
  expect(one.messages).toHaveLength(sent);
});

test('a batch without rows, or with only bad ones, ends immediately', async () => {
  const [none, bad] = [world(), world()];

  const empty = await splitBatch(batchOf([]), none.split);
  await splitBatch(batchOf([{ line: 1, fault: 'no text' }]), bad.split);

  expect(empty).toMatchObject({ summary: { chunks: 0, rows: 0, parts: [] } });
  expect(bad.messages).toEqual([]);
  expect(summaryOf(bad.store)).toMatchObject({
    rows: 1,
    bad: 1,
    failed: 0,
    badRows: [{ line: 1, fault: 'no text' }],
  });
});

test('if a chunk is ended twice, one part and its counts remain, whatever the interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const one = world();
      await splitBatch(batchOf([row(1, 'good')]), one.split);
      const storage = scheduled(one, scheduler);
      const result = {
        id: '1',
        result: { type: 'DEFAULT', sentiment: 'positive' },
        cached: false,
        calls: 1,
        paidAgain: 0,
      };

      const both = Promise.all([
        endChunk({ batch: 'b1', chunk: 0 }, [result], storage),
        failChunk({ batch: 'b1', chunk: 0 }, IT_FAILED, storage),
      ]);
      await scheduler.waitFor(both);

      const { scored, failed, parts } = summaryOf(one.store);
      const [line, ...rest] = partLines(one.store);
      expect(rest).toEqual([]);
      expect([scored, failed]).toEqual(line?.error === undefined ? [1, 0] : [0, 1]);
      expect(one.store.objects.has(parts[0].key)).toBe(true);
      expect((await both).map(({ kind }) => kind).sort()).toEqual(['ended', 'was-ended']);
    }),
    { numRuns: scaled(40, 200) },
  );
});

test('a chunk whose job failed lets the batch finish, and its rows without a result fail with that error', async () => {
  const one = world();
  await splitBatch(batchOf(mixedRows), one.split);
  for (const message of one.messages.slice(1)) await scoreChunk(message, { ...one.scoring, ...one.storage });

  const ended = await failChunk(
    { batch: 'b1', chunk: 0 },
    { error: 'the token was refused', jobId: 'b1.chunk-00000' },
    one.storage,
  );

  expect(ended).toMatchObject({ kind: 'ended', summary: { failed: 67, bad: 4, rows: 230 } });
  // Line 117, in the next chunk, has the same text as line 2.
  const lines = partLines(one.store);
  expect(lines[0]).toMatchObject({ line: 1, error: 'the token was refused' });
  expect(lines[1]).toMatchObject({ line: 2, sentiment: 'negative' });
});

test('the last step of a batch, in a chunk or in the splitter, writes the summary', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const one = world();
      const jobs: Promise<unknown>[] = [];
      const storage = scheduled(one, scheduler);
      const split = {
        ...one.split,
        ...storage,
        send: async (messages: typeof one.messages) => {
          jobs.push(...messages.map((message) => scoreChunk(message, { ...one.scoring, ...storage })));
        },
      } as typeof one.split;

      await scheduler.waitFor(splitBatch(batchOf(mixedRows), split));
      await scheduler.waitFor(Promise.all(jobs));

      expect(summaryOf(one.store)).toMatchObject({ rows: 230, chunks: 3 });
    }),
    { numRuns: scaled(8, 30) },
  );
});

const withoutHash = (text: string) => text.replaceAll(/-[0-9a-f]{12}\.ndjson/g, '');

/** The lines of parts without their costs, which a crash changes, and the keys without the hash of the content. */
const withoutCosts = (parts: Readonly<Record<string, string>>) =>
  Object.entries(parts).map(([key, body]) => [
    withoutHash(key),
    gunzipSync(Buffer.from(body, 'latin1'))
      .toString()
      .replaceAll(/"(?:cached|calls|paidAgain)":\d+,?|"tokens":\{[^}]*\},?/g, ''),
  ]);

test.each([true, false])(
  'after a crash at any write (stored: %s), a second run yields the same parts and summary',
  async (made) => {
    const undisturbed = world();
    const counting = crashing(undisturbed, Number.POSITIVE_INFINITY, true);
    const request = batchOf(mixedRows.slice(0, 120));
    await runBatch(
      request,
      world({ ...counting, store: { ...counting.store, objects: undisturbed.store.objects } }),
    );
    const expected = resultsOf(undisturbed.store);
    const { 'scores/b1/_summary.json': summaryOfWhole, ...parts } = expected;
    const {
      calls: _calls,
      cached: _cached,
      paidAgain: _again,
      tokens: _tokens,
      ...counts
    } = JSON.parse(summaryOfWhole ?? '');

    const writes = Array.from({ length: counting.writes() }, (_, index) => index + 1);
    for (const at of sampled(15, writes)) {
      const platform = scriptedAnalyze();
      const base = world({}, platform);
      const broken = crashing(base, at, made);
      const first = world(
        { table: broken.table, store: { ...broken.store, objects: base.store.objects } },
        platform,
      );
      await expect(runBatch(request, first)).rejects.toThrow();
      // The leases of the first run have ended when the second begins.
      const second = world({ store: base.store, table: base.table, owner: 'worker-2' }, platform);
      await second.scoring.sleep(200_000);
      await runBatch(request, second);

      const results = resultsOf(base.store);
      const summary = JSON.parse(results['scores/b1/_summary.json'] ?? '');
      // A crash changes only the counts of calls and tokens.
      delete results['scores/b1/_summary.json'];
      expect(withoutCosts(results), `at ${at}`).toEqual(withoutCosts(parts));
      const { calls, cached, paidAgain, tokens, ...rest } = summary;
      expect(withoutHash(JSON.stringify(rest))).toEqual(withoutHash(JSON.stringify(counts)));
      const repeats = platform.paid.length - new Set(platform.paid).size;
      expect(paidAgain).toBeGreaterThanOrEqual(repeats);
      expect(calls - paidAgain + cached).toBe(rest.scored);
      expect(tokens.output).toBe(calls - paidAgain);
    }
  },
  120_000,
);

test('splitting reads no more than ten chunks before it sends their messages', async () => {
  const { split } = world();
  let read = 0;
  const readAtSend: number[] = [];
  const rows = async function* source() {
    for (let line = 1; line <= 3_000; line += 1) {
      read += 1;
      yield row(line, `text ${line}`);
    }
  };
  const send = async () => {
    readAtSend.push(read);
  };

  await splitBatch({ ...batchOf([]), rows }, { ...split, maxCalls: 3_000, send });

  expect(readAtSend.map((count) => count - 3_000)).toEqual([1_001, 2_001, 3_000]);
});

test('a batch of characters that are escaped when sent fits in its messages, with the largest request', async () => {
  const { split, messages } = world();
  const rows = Array.from({ length: 130 }, (_, index) =>
    row(9_999_800 + index, '\uFFFE\uFFFF'.repeat(index < 100 ? 170 : index * 100)),
  );
  const request = { instructions: '\uFFFF'.repeat(8_188) };

  await splitBatch(batchOf(rows, { batch: 'b'.repeat(114), request }), split);

  expect(messages.flatMap(({ texts }) => texts)).toHaveLength(130);
  expect(Math.max(...messages.map((message) => sentBytes(JSON.stringify(message))))).toBeLessThanOrEqual(
    MAX_MESSAGE_BYTES,
  );
});

test('a request that takes more than its share of a message, once it is escaped, is refused', async () => {
  const { split } = world();
  const request = { instructions: '\uFFFF'.repeat(8_189) };

  const outcome = await splitBatch(batchOf([row(1, 'good')], { request }), split);

  expect(outcome).toMatchObject({
    kind: 'refused',
    reasons: ['request: expected at most 49152 bytes as JSON, got 49153'],
  });
});

test('repeating the job of an ended chunk costs no call, even for texts that failed', async () => {
  const one = world({}, scriptedAnalyze({ odd: [refusedText] }));
  await runBatch(batchOf([row(1, 'odd')]), one);
  const before = resultsOf(one.store);

  const [message] = one.messages;
  const again = message && (await scoreChunk(message, { ...one.scoring, ...one.storage }));

  expect(again).toMatchObject({
    kind: 'scored',
    results: [],
    chunk: { kind: 'was-ended', summary: { failed: 1 } },
  });
  expect(one.paid).toEqual([]);
  expect(resultsOf(one.store)).toEqual(before);
});

test('every row of a batch expires 90 days after its last write, like the scores in the cache', async () => {
  const lifetimes = new Map<string, number | undefined>();
  const table = createMemoryTable();
  const watched: Table = {
    ...table,
    put(key, row, options) {
      lifetimes.set(`${key.partition} ${key.sort}`, options.lifetimeMs);
      return table.put(key, row, options);
    },
  };
  const batch = world({ table: watched });

  await runBatch(batchOf([row(1, 'first')]), batch);

  const kinds = [...lifetimes.keys()].map((name) => name.replace(/#[0-9a-f]{64}/, ''));
  expect(kinds).toEqual(['batch#b1 chunk-00000', 'batch#b1 _header', 'score -']);
  expect(new Set(lifetimes.values())).toEqual(new Set([90 * 24 * 3_600_000]));
});

import { expect, test } from 'vitest';
import { scoreFile } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { textHashOf } from '../../../../lib/jobs/texts/cache/cache-row.ts';
import { openStoredCache } from '../../../../lib/jobs/texts/cache/stored-cache.ts';
import { forgetText } from '../../../../lib/jobs/texts/forget.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';
import { longWait, refusedText, row, scriptedAnalyze, sentBy } from '../fakes.ts';
import { batchOf, mixedRows, partLines, resultsOf, runBatch, summaryOf, world } from './batch-suite.ts';
import { type Fault, faultyPlatform } from './faulty-platform.ts';

test('a file yields the same parts and summary as the queue', async () => {
  const [queue, here] = [world(), world()];
  await runBatch(batchOf(mixedRows), queue);

  const scored = await scoreFile(batchOf(mixedRows), { ...here.split, ...here.scoring, chunksAtOnce: 1 });

  expect(resultsOf(here.store)).toEqual(resultsOf(queue.store));
  expect(scored).toEqual({ kind: 'scored', summary: summaryOf(queue.store) });
});

test('reports how many of all rows are scored', async () => {
  const { split, scoring } = world();
  const reported: unknown[] = [];

  await scoreFile(batchOf(mixedRows), {
    ...split,
    ...scoring,
    progress: (progress) => reported.push(progress),
  });

  expect(reported.at(-1)).toEqual({ rowsScored: 226, rows: 230 });
  expect(reported).toHaveLength(3);
});

test('refuses a file that takes more calls than allowed', async () => {
  const { split, scoring, paid } = world();

  const refused = await scoreFile(batchOf(mixedRows), { ...split, ...scoring, maxCalls: 1 });

  expect(refused).toMatchObject({ kind: 'refused', preview: { rows: 230 } });
  expect(paid).toEqual([]);
});

test('sits out a long wait: there is no queue to return to', async () => {
  const { split, scoring, slept } = world({}, scriptedAnalyze({ good: [longWait] }));

  const scored = await scoreFile(batchOf([row(1, 'good')]), { ...split, ...scoring });

  expect(scored).toMatchObject({ kind: 'scored', summary: { scored: 1 } });
  expect(slept).toEqual([40_000]);
});

test('a stopped file resumes in another process, even without a table, and pays for nothing twice', async () => {
  const store = createMemoryStore();
  const first = await openStoredCache(store);
  const stopped = world({ store, table: first.table });
  let chunks = 0;
  const stop = new AbortController();
  const options = { ...stopped.split, ...stopped.scoring, chunksAtOnce: 1, signal: stop.signal };
  const progress = () => {
    chunks += 1;
    if (chunks === 2) stop.abort(new Error('Ctrl-C'));
  };
  await expect(scoreFile(batchOf(mixedRows), { ...options, progress })).rejects.toThrow('Ctrl-C');
  await first.flush();

  const second = await openStoredCache(store);
  const resumed = world({ store, table: second.table, owner: 'worker-2' });
  await scoreFile(batchOf(mixedRows), { ...resumed.split, ...resumed.scoring });

  const whole = world();
  await scoreFile(batchOf(mixedRows), { ...whole.split, ...whole.scoring });
  expect(summaryOf(store)).toEqual(summaryOf(whole.store));
  expect([...stopped.paid, ...resumed.paid].sort()).toEqual([...new Set(whole.paid)].sort());
});

test('results become durable in groups of fifty, and segments are never rewritten', async () => {
  const store = createMemoryStore();
  const { table, flush } = await openStoredCache(store);
  const { split, scoring } = world({ store, table });

  await scoreFile(batchOf(mixedRows), { ...split, ...scoring });
  const keys = [...store.objects.keys()].filter((key) => key.startsWith('scores/_cache/'));
  await flush();

  expect(keys.length).toBeGreaterThanOrEqual(3);
  expect([...store.objects.keys()].filter((key) => key.startsWith('scores/_cache/'))).toEqual(keys);
  const again = await openStoredCache(store);
  const [loaded, stored] = await Promise.all([
    Array.fromAsync(again.table.scan('score#')),
    Array.fromAsync(table.scan('score#')),
  ]);
  expect(loaded.map(({ row: each }) => each).toSorted(byHash)).toEqual(
    stored.map(({ row: each }) => each).toSorted(byHash),
  );
});

test('does not store claims, sends and refusals', async () => {
  const store = createMemoryStore();
  const { table, flush } = await openStoredCache(store);
  const { split, scoring } = world({ store, table }, scriptedAnalyze({ odd: [refusedText] }));
  await sentBy(scoring, 'claimed');

  await scoreFile(batchOf([row(1, 'odd')]), { ...split, ...scoring });
  await flush();

  const again = await openStoredCache(store);
  expect(await Array.fromAsync(again.table.scan('score#'))).toEqual([]);
});

test('a forgotten text is in no segment', async () => {
  const store = createMemoryStore();
  const { table, flush } = await openStoredCache(store);
  const one = world({ store, table });
  await scoreFile(batchOf(mixedRows), { ...one.split, ...one.scoring });

  await forgetText(textHashOf('good 0'), one.storage);
  await flush();

  const again = await openStoredCache(store);
  const rows = await Array.fromAsync(again.table.scan('score#'));
  expect(rows.map(({ row: each }) => each['textHash'])).not.toContain(textHashOf('good 0'));
  expect(rows).toHaveLength(one.paid.length - 1);
  expect(partLines(store)[0]).toMatchObject({ erased: true });
  expect((await Array.fromAsync(again.table.list('batch#b1'))).length).toBe(4);
});

test('stops when different texts fail alike; the next run in another process counts their calls too', async () => {
  const store = createMemoryStore();
  const platform = faultyPlatform({
    ofText: new Map(),
    ofCalls: [{ from: 100, to: 10_000, fault: 500 }],
    putOff: new Set(),
  });
  const first = await openStoredCache(store);
  const stopped = world({ store, table: first.table }, { analyze: platform.analyze, paid: [] });
  const stop = scoreFile(batchOf(mixedRows), { ...stopped.split, ...stopped.scoring });
  await expect(stop).rejects.toMatchObject({ failure: { status: 500 } });
  await first.flush();
  const atStop = platform.seen.paid;
  platform.heal();

  const second = await openStoredCache(store);
  const resumed = world(
    { store, table: second.table, owner: 'worker-2' },
    { analyze: platform.analyze, paid: [] },
  );
  const scored = await scoreFile(batchOf(mixedRows), { ...resumed.split, ...resumed.scoring });

  expect(atStop).toBeLessThan(100 + 2 * 8 * 9);
  expect(scored).toMatchObject({
    summary: {
      scored: 226,
      failed: 0,
      calls: platform.seen.paid,
      tokens: { output: platform.seen.responses },
    },
  });
});

test('a text whose response is always lost fails its row alone', async () => {
  const platform = faultyPlatform({
    ofText: new Map<string, Fault>([['bad 1', 'lost']]),
    ofCalls: [],
    putOff: new Set(),
  });
  const { split, scoring } = world({}, { analyze: platform.analyze, paid: [] });

  const scored = await scoreFile(batchOf(mixedRows.slice(0, 100)), { ...split, ...scoring });

  expect(scored).toMatchObject({ summary: { scored: 97, failed: 1, calls: platform.seen.paid } });
});

const byHash = (a: { readonly textHash?: unknown }, b: { readonly textHash?: unknown }) =>
  String(a.textHash) < String(b.textHash) ? -1 : 1;

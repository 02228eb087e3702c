import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { scoreFile } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { sqliteFile } from '../../../../lib/table/sqlite-file.ts';
import { createSqliteTable } from '../../../../lib/table/sqlite-table.ts';
import { folderOfEach } from '../../../folder-of-each.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';
import { longWait, row, scriptedAnalyze, unavailable } from '../fakes.ts';
import { batchOf, mixedRows, resultsOf, runBatch, summaryOf, world } from './batch-suite.ts';
import { faultyPlatform } from './faulty-platform.ts';

const folder = folderOfEach();
afterEach(() => sqliteFile(join(folder.path, 'jobs.db')).close());

test('a scored file yields the same parts and summary as the queue', async () => {
  const [queue, here] = [world(), world()];
  await runBatch(batchOf(mixedRows), queue);

  const scored = await scoreFile(batchOf(mixedRows), { ...here.split, ...here.scoring, concurrentChunks: 1 });

  expect(resultsOf(here.store)).toEqual(resultsOf(queue.store));
  expect(scored).toEqual({ kind: 'scored', summary: summaryOf(queue.store) });
});

test('a scored file reports how many of all rows are scored', async () => {
  const { split, scoring } = world();
  const reported: unknown[] = [];

  await scoreFile(batchOf(mixedRows), {
    ...split,
    ...scoring,
    progress: (progress) => reported.push(progress),
  });

  expect(reported.at(-1)).toEqual({ rowsScored: 226, rows: 230 });
  // Progress is reported from the first text, and never decreases.
  expect(reported.length).toBeGreaterThan(150);
  expect(reported.slice(0, 2)).toEqual([
    { rowsScored: 1, rows: 230 },
    { rowsScored: 2, rows: 230 },
  ]);
});

test.each([
  ['like DynamoDB', () => createMemoryTable()],
  ['in a file', () => createSqliteTable(sqliteFile(join(folder.path, 'jobs.db')))],
])(
  'two processes that score a batch concurrently make no more calls than the batch allows, with a table %s',
  async (_, open) => {
    const [store, table] = [createMemoryStore(), open()];
    const rows = Array.from({ length: 120 }, (_each, index) => row(index + 1, `text ${index}`));
    const failing = () =>
      scriptedAnalyze(Object.fromEntries(rows.map((_row, index) => [`text ${index}`, [unavailable]])));
    const [one, two] = ['a', 'b'].map((owner) => world({ store, table, owner }, failing()));
    const score = ({ split, scoring }: ReturnType<typeof world>) =>
      scoreFile(batchOf(rows), { ...split, ...scoring, maxCalls: 130 });

    const scored = await Promise.all([one, two].map((each) => each && score(each)));

    const calls = [one, two].flatMap((each) => each?.paid ?? []);
    expect(calls.length).toBeLessThanOrEqual(130);
    expect(calls.length).toBeGreaterThan(120);
    expect(scored[0]).toEqual(scored[1]);
    expect(scored[0]).toMatchObject({ kind: 'scored', summary: { rows: 120, failed: expect.any(Number) } });
  },
);

test('a scored file waits for as long as it takes, since there is no queue to return to', async () => {
  const { split, scoring, slept } = world({}, scriptedAnalyze({ good: [longWait] }));

  const scored = await scoreFile(batchOf([row(1, 'good')]), { ...split, ...scoring });

  expect(scored).toMatchObject({ kind: 'scored', summary: { scored: 1 } });
  expect(slept).toEqual([40_000]);
});

test('a stopped file resumes in another process, and pays for nothing twice', async () => {
  const store = createMemoryStore();
  const table = createMemoryTable();
  const stopped = world({ store, table });
  let texts = 0;
  const stop = new AbortController();
  const options = { ...stopped.split, ...stopped.scoring, concurrentChunks: 1, signal: stop.signal };
  const progress = () => {
    texts += 1;
    if (texts === 150) stop.abort(new Error('Ctrl-C'));
  };
  await expect(scoreFile(batchOf(mixedRows), { ...options, progress })).rejects.toThrow('Ctrl-C');

  const resumed = world({ store, table, owner: 'worker-2' });
  await scoreFile(batchOf(mixedRows), { ...resumed.split, ...resumed.scoring });

  const undisturbed = world();
  await scoreFile(batchOf(mixedRows), { ...undisturbed.split, ...undisturbed.scoring });
  expect(summaryOf(store)).toEqual(summaryOf(undisturbed.store));
  expect([...stopped.paid, ...resumed.paid].sort()).toEqual([...new Set(undisturbed.paid)].sort());
});

test('a file stops when different texts fail for the same reason; the next run in another process counts their calls too', async () => {
  const store = createMemoryStore();
  const platform = faultyPlatform({
    ofText: new Map(),
    ofCalls: [{ from: 100, to: 10_000, fault: 500 }],
    putOff: new Set(),
  });
  const table = createMemoryTable();
  const stopped = world({ store, table }, { analyze: platform.analyze, paid: [] });
  const stop = scoreFile(batchOf(mixedRows), { ...stopped.split, ...stopped.scoring });
  await expect(stop).rejects.toMatchObject({ failure: { status: 500 } });
  const atStop = platform.seen.paid;
  platform.heal();

  const resumed = world({ store, table, owner: 'worker-2' }, { analyze: platform.analyze, paid: [] });
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

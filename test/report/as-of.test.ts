import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { storeFormula } from '../../lib/model/formulas/formula-log.ts';
import { renewModel } from '../../lib/model/index.ts';
import { storeAsOf } from '../../lib/report/as-of.ts';
import { collectFacts } from '../../lib/report/collect/collect-facts.ts';
import { figuresOf } from '../../lib/report/print-report.ts';
import { whereUsed } from '../../lib/report/where-used.ts';
import { latestKey, type Place, publishedFolder, type Run } from '../../lib/snapshot/keys.ts';
import { readLatest } from '../../lib/snapshot/manifest.ts';
import type { Store } from '../../lib/store/store.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { openTables } from '../../lib/tables/duckdb/open-tables.ts';
import { runCommand } from '../cli/run-command.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { monday, publishLines, tuesday, wednesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';
import { connect, contextOver } from './mcp/connect.ts';

const folder = folderOfEach();
let store: MemoryStore;
beforeEach(() => {
  store = createMemoryStore();
});

const endOf = (run: Run) => Date.parse(`${run.startedAt.slice(0, 10)}T23:59:59.999Z`);
const dayOf = (run: Run) => run.startedAt.slice(0, 10);

const link = (type: string, id: string, valid = 'VALID') => ({
  resource: { type, id },
  visible: true,
  valid,
});
const sound = { id: 1, name: 'Revenue', owner: 5, status: 'VALID', links: [link('DATA_SOURCE', 'd-1')] };
const broken = { ...sound, links: [link('DATA_SOURCE', 'd-1', 'ILLEGAL_REFERENCE')] };
const user = { id: 2, name: 'Margin', owner: 5, functionTemplateDependencies: ['1'] };

const publish = (
  run: Run,
  records: readonly object[],
  place: Place = 'calculations',
  finishedAt = run.startedAt,
) =>
  publishLines(store, {
    place,
    run,
    lines: records.map((each) => JSON.stringify(each)),
    manifest: { finishedAt },
  });

const result = (
  id: string,
  finishedAt: string,
  { type = 'run-function', dt = finishedAt.slice(0, 10) } = {},
) =>
  store.put(
    `results/${type}/dt=${dt}/${id}.json`,
    Buffer.from(`{"version":1,"id":"${id}","type":"${type}","status":"failed","finishedAt":"${finishedAt}"}`),
  );

const part = (chunk: string) => `scores/b/part-${chunk}-00000000-000000000000.ndjson.gz`;

/** Fills a store with the events of Monday and of the following days. */
async function happenedOnMonday() {
  await publish(monday, [sound, user]);
  await publish(monday, [{ id: 30, title: 'Sales', datasourceId: 'd-1' }], 'cards');
  await result('early', '2026-11-16T20:00:00.000Z');
  await result('b.chunk-00000', '2026-11-16T20:00:00.000Z', { type: 'score' });
  await storeFormula(store, {
    calculationId: '1',
    finishedAtMs: Date.parse('2026-11-16T10:00:00Z'),
    response: '{"expression":"SUM(`old`)"}',
  });
}

async function happenedLater() {
  await publish(tuesday, [broken]);
  await publish(wednesday, [sound], 'cards');
  await result('late', '2026-11-17T10:00:00.000Z');
  await result('long', '2026-11-17T10:00:00.000Z', { dt: '2026-11-16' });
  await result('b.chunk-00001', '2026-11-17T10:00:00.000Z', { type: 'score', dt: '2026-11-16' });
  await storeFormula(store, {
    calculationId: '1',
    finishedAtMs: Date.parse('2026-11-17T10:00:00Z'),
    response: '{"expression":"SUM(`new`)"}',
  });
}

/** The output of each command and reader for a store as of Monday. */
async function answersOf(of: Store) {
  const now = () => endOf(monday);
  const { signal } = new AbortController();
  const facts = await collectFacts({ store: of, now, signal });
  await using tables = await openTables(of, { memoryMb: 200, atMs: endOf(monday) });
  const rows = async (sql: string) => (await tables.run(sql, { maxRows: 100 })).first;
  return {
    facts,
    figures: figuresOf(facts),
    used: await whereUsed({ store: of, id: 'd-1', maxListed: 9 }),
    column: await whereUsed({ store: of, id: 'old', maxListed: 9 }),
    calculations: await rows('SELECT * FROM calculations ORDER BY calculation_id'),
    runs: await rows('SELECT place, run, latest, current_date, now() FROM runs ORDER BY place'),
    stored: await rows('SELECT id FROM jobs UNION ALL SELECT expression FROM formulas ORDER BY 1'),
  };
}

test('all readers show the state of the requested day, and store nothing except built tables', async () => {
  await happenedOnMonday();
  const then = await answersOf(store);
  await happenedLater();
  await renewModel({ store, now: Date.now });
  const before = new Map(store.objects);

  const again = await answersOf(await storeAsOf(store, endOf(monday)));

  expect(again).toEqual(then);
  expect(again.stored).toEqual([['SUM(`old`)'], ['b.chunk-00000'], ['early']]);
  expect(again.column.found).toHaveLength(1);
  const changed = [...store.objects]
    .filter(([key, object]) => before.get(key) !== object)
    .map(([key]) => key);
  expect(changed.filter((key) => !key.startsWith('parquet/'))).toEqual([]);
  expect([...before.keys()].filter((key) => !store.objects.has(key))).toEqual([]);
});

describe('as of a day, a run counts as the last one of its place', () => {
  test('from the time at which it finished, not from when it began', async () => {
    await publish(monday, [sound]);
    await publish(tuesday, [broken], 'calculations', '2026-11-18T00:10:00.000Z');
    const runAt = async (time: string) =>
      (await readLatest(await storeAsOf(store, Date.parse(time)), 'calculations'))?.run;

    expect(await runAt('2026-11-17T23:59:59.999Z')).toBe(monday.id);
    expect(await runAt('2026-11-18T00:10:00.000Z')).toBe(tuesday.id);
  });

  test('so a place is empty if none of its runs had finished by then', async () => {
    await publish(monday, [sound]);
    await publish(tuesday, [], 'cards');

    const past = await storeAsOf(store, endOf(monday));

    expect(await readLatest(past, 'cards')).toBeUndefined();
  });
});

test('as of a day, scores of jobs that ended later and the summary of their batch are not shown', async () => {
  await happenedOnMonday();
  await happenedLater();
  for (const key of [part('00000'), part('00001'), 'scores/b/_summary.json', 'scores/c/_summary.json'])
    await store.put(key, Buffer.from('x'));

  const past = await storeAsOf(store, endOf(monday));

  const keys = (await Array.fromAsync(past.list('scores/'))).map(({ key }) => key);
  expect(keys).toEqual([part('00000'), 'scores/c/_summary.json']);
  expect(await past.get('scores/b/_summary.json')).toBeUndefined();
  const now = await storeAsOf(store, endOf(tuesday));
  expect((await Array.fromAsync(now.list('scores/'))).length).toBe(4);
});

test('a store opened as of a day allows only the Parquet and the uses of runs to be written, copied or deleted', async () => {
  await publish(monday, [sound]);
  const past = await storeAsOf(store, endOf(monday));

  for (const key of [
    'model/latest.json',
    'parquet/latest/calculations/symlink.txt',
    'parquet/runs/calculations.json',
    'calculations/latest.json',
    'report/latest.html',
  ]) {
    await expect(past.put(key, Buffer.from('x'))).rejects.toThrow('read-only');
    await expect(past.delete(key)).rejects.toThrow('read-only');
    await expect(past.copy(latestKey('calculations'), key)).rejects.toThrow('read-only');
  }
});

/** Removes a run as a prune does, or as when it expires: then `latest.json` still names it. */
async function remove(run: Run, how: 'pruned' | 'expired', place: Place = 'calculations') {
  const key = `${publishedFolder(place, run)}_manifest.json`;
  const latest = await readLatest(store, place);
  const { etag: _, ...rest } = latest ?? { etag: '', earlier: [], removed: [] };
  const earlier = rest.earlier.filter((each) => each !== key);
  if (how === 'pruned')
    await store.put(latestKey(place), printStored({ ...rest, earlier, removed: [...rest.removed, run.id] }));
  await store.delete(key);
}

describe('--at is refused, with the reason,', () => {
  const command = (argv: readonly string[]) =>
    runCommand(argv, { SYNC_STORE: './unused' }, '', { openStore: async () => store });
  const doors = [
    ['where-used', '1'],
    ['query', 'SELECT id FROM calculations', '--json'],
    ['query', '--saved', 'unused-calculations'],
    ['report', '--output', 'unused.html'],
  ];

  test.each(doors)('if no run had been published by that day: %s %s', async (...argv) => {
    await publish(tuesday, [sound]);

    const { code, err } = await command([...argv, '--at', dayOf(monday)]);

    expect(code).toBe(2);
    expect(err).toContain(
      '--at: no run had been published by 2026-11-16T23:59:59.999Z: the first run is of 2026-11-17T09:00:00.000Z',
    );
  });

  test.each([
    ['yesterday', 'got "yesterday"'],
    ['2026-02-30', 'got "2026-02-30"'],
    ['2999-01-01', 'got "2999-01-01"'],
  ])('if the day is invalid or has not begun: %s', async (at, got) => {
    const { code, err } = await command(['where-used', '1', '--at', at]);

    expect(code).toBe(2);
    expect(err).toContain('Expected a day that has begun, such as 2026-11-21');
    expect(err).toContain(got);
  });

  test.each(['pruned', 'expired'] as const)(
    'if the run of that day was %s, and the nearest available run is named',
    async (how) => {
      for (const run of [monday, tuesday, wednesday]) await publish(run, [sound]);
      await publish(monday, [], 'cards');
      await remove(tuesday, how);
      const at = ['--at', dayOf(tuesday)];

      const used = await command(['where-used', '1', ...at]);
      const queried = await command(['query', 'SELECT id FROM calculations', '--json', ...at]);
      const cards = await command(['query', 'SELECT id FROM cards', '--json', ...at]);

      expect([used.code, queried.code, cards.code]).toEqual([2, 3, 0]);
      for (const { err } of [used, queried])
        expect(err).toContain(
          'calculations: the run of 2026-11-17 was removed; the nearest available: 2026-11-16T09:00:00.000Z or 2026-11-18T09:00:00.000Z',
        );
      expect((await command(['where-used', '1', '--at', '2026-11-16T09:00:00.000Z'])).code).toBe(0);
    },
  );

  test('if all runs up to that day were removed, and the nearest available run is named', async () => {
    for (const run of [monday, tuesday]) await publish(run, [sound]);
    await remove(monday, 'pruned');

    const { code, err } = await command(['where-used', '1', '--at', dayOf(monday)]);

    expect(code).toBe(2);
    expect(err).toContain('was removed; the nearest available: 2026-11-17T09:00:00.000Z');
  });

  test('if --link is given too', async () => {
    expect((await command(['report', '--link', '--at', dayOf(monday)])).err).toContain(
      'expected --link or --at',
    );
  });
});

test('an assistant can also ask as of a day, and gets an error for an invalid day', async () => {
  await publish(monday, [sound, user]);
  await publish(tuesday, [broken]);
  await using server = await connect(
    contextOver(store, {
      tables: async (atMs) => openTables(atMs === undefined ? store : await storeAsOf(store, atMs), { atMs }),
    }),
  );
  const sql = 'SELECT count(*) FROM calculations';

  const now = await server.call('query', { sql });
  const then = await server.call('query', { sql, at: dayOf(monday) });
  const used = await server.call('where_used', { id: '1', at: dayOf(monday) });
  const early = await server.call('where_used', { id: '1', at: '2026-11-01' });
  const none = await server.call('query', { sql, at: 'Monday' });

  expect([now.value, then.value]).toMatchObject([{ data: { rows: [[1]] } }, { data: { rows: [[2]] } }]);
  expect(used.value).toMatchObject({ data: { searched: [{ run: monday.id }], dependents: [{ id: '2' }] } });
  expect(early.text).toContain('the first run is of 2026-11-16T09:00:00.000Z');
  expect(none.text).toContain('a day that has begun, such as 2026-11-21');
});

test('figures as of a day name that day, whether or not a run was published since', async () => {
  const argv = ['report', '--at', dayOf(monday), '--output', join(folder.path, 'then.html'), '--json'];
  const report = () => runCommand(argv, { SYNC_STORE: './unused' }, '', { openStore: async () => store });
  await publish(monday, [sound, user]);
  await renewModel({ store, now: Date.now });
  const { out: before } = await report();
  await publish(tuesday, [broken]);

  const { code, out } = await report();

  expect(code).toBe(0);
  expect({ ...JSON.parse(before), bytes: 0 }).toEqual({ ...JSON.parse(out), bytes: 0 });
  expect(JSON.parse(out)).toMatchObject({
    as_of: '2026-11-16T23:59:59.999Z',
    as_of_runs: { calculations: monday.id },
    calculations: { total: 2, broken_links: { count: 0 } },
  });
});

test('where-used as of a day uses the sources whose runs exist, and names the others', async () => {
  await publish(monday, [sound, user]);
  await publish(monday, [], 'cards');
  await publish(tuesday, [], 'cards');
  await remove(monday, 'pruned', 'cards');
  const asOf = await storeAsOf(store, endOf(monday));
  const gone = 'cards: the run of 2026-11-16 was removed; the nearest available: 2026-11-17T09:00:00.000Z';

  const { found, searched, notRead } = await whereUsed({ store: asOf, id: '1', maxListed: 9, mayLack: true });
  const strict = whereUsed({ store: asOf, id: '1', maxListed: 9 });

  expect(found).toMatchObject([{ kind: 'calculation', id: '1', total: 1 }]);
  expect(searched.map(({ place }) => place)).toEqual(['calculations']);
  expect(notRead).toEqual([gone]);
  await expect(strict).rejects.toThrow(gone);
});

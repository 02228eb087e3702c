import { tmpdir } from 'node:os';
import * as duckDb from '@duckdb/node-api';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Run } from '../../../lib/snapshot/keys.ts';
import { sources } from '../../../lib/snapshot/sources/sources.ts';
import type { Store } from '../../../lib/store/store.ts';
import { viewsOver } from '../../../lib/tables/catalog/tables.ts';
import { neededPieces } from '../../../lib/tables/duckdb/open-query.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { createSchema, openDatabase } from '../../../lib/tables/duckdb/schema.ts';
import { createLocalCopies, type Table } from '../../../lib/tables/duckdb/stored-files.ts';
import { tablesOf } from '../../../lib/tables/duckdb/tables.ts';
import { scaled } from '../../scale.ts';
import { publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { calculation, rowsOf, runOn } from './published.ts';

const DAYS = [1, 2, 3, 4, 5, 6];

let read: string[] = [];
/** The runs of a day: one on odd days, two on even days. */
function runsOn(day: number): readonly Run[] {
  const morning = runOn('2026-10', day);
  const later = (text: string) => text.replace('T09', 'T15');
  const evening = { id: later(morning.id), startedAt: later(morning.startedAt) };
  return day % 2 === 0 ? [morning, evening] : [morning];
}

/** A store that records the days whose Parquet is read. Missing Parquet is first built from the part. */
function recording(store: Store): Store {
  return {
    ...store,
    get: (key, options) => {
      if (key.endsWith('.parquet')) read.push(/dt=2026-10-0(\d)/.exec(key)?.[1] ?? key);
      return store.get(key, options);
    },
  };
}

/** A store with some runs of each day, and lines for each of them. */
async function storeWith(
  runs: (day: number) => readonly Run[],
  lines: (day: number) => readonly string[] = (day) => [calculation(day, 'a')],
): Promise<Store> {
  const store = createMemoryStore();
  for (const day of DAYS) for (const run of runs(day)) await publishLines(store, { run, lines: lines(day) });
  return store;
}

const lines = (day: number) => Array.from({ length: day }, (_, at) => calculation(at, `on ${day}`));
const tables = await openTables(await storeWith(runsOn, lines));

afterAll(() => tables[Symbol.asyncDispose]());

/** Runs a query in a new session, and returns the days whose parts were read. */
async function daysReadBy(sql: string): Promise<readonly string[]> {
  read = [];
  await using fresh = await openTables(recording(await storeWith((day) => [runOn('2026-10', day)])));
  await fresh.run(sql, { maxRows: 1 });
  return read.sort();
}

test.each([
  ['SELECT count(*) FROM calculations', ['6']],
  ["SELECT * FROM all_calculations WHERE dt = '2026-10-03'", ['3']],
  ["SELECT count(*) FROM all_calculations WHERE dt >= '2026-10-05' AND name = 'a'", ['5', '6']],
  [
    "SELECT * FROM all_calculations a JOIN all_calculations b USING (id) WHERE a.dt = '2026-10-02' AND b.dt = '2026-10-04'",
    ['2', '4'],
  ],
  ["SELECT 1 FROM runs WHERE EXISTS (SELECT 1 FROM all_calculations WHERE run LIKE '20261001%')", ['1']],
  ['SELECT place, count(*) FROM runs GROUP BY place', []],
  ['DESCRIBE all_calculations', []],
  ['SELECT * FROM all_calculations WHERE run = (SELECT max(run) FROM runs)', ['1', '2', '3', '4', '5', '6']],
])('SQL reads only the runs that it needs: %s', async (sql, days) => {
  expect(await daysReadBy(sql)).toEqual(days);
});

describe('in a store with hundreds of runs, a condition', () => {
  const days = Array.from({ length: 300 }, (_, at) => new Date(at * 86_400_000).toISOString().slice(0, 10));
  const session = {
    store: createMemoryStore(),
    copies: createLocalCopies(tmpdir()),
    report: () => undefined,
    note: () => undefined,
    now: () => 0,
    namesColumn: () => false,
    signal: AbortSignal.timeout(60_000),
  };
  const table: Table = {
    name: 'stored_many',
    columns: { id: 'string' },
    pieceColumns: ['dt', 'run'],
    pieces: async () =>
      days.map((dt) => ({ values: [dt, `run of ${dt}`], files: () => Promise.reject(new Error('read')) })),
  };

  test.each([
    ["dt = '1970-05-04'", (day: string) => day === '1970-05-04'],
    ["run >= 'run of 1970-10-20'", (day: string) => day >= '1970-10-20'],
    ["left(dt, 7) IN ('1970-02', '1970-03')", (day: string) => /^1970-0[23]/.test(day)],
    [
      "dt = '1970-01-01' OR (dt > '1970-10-25' AND id = '7')",
      (day: string) => day === '1970-01-01' || day > '1970-10-25',
    ],
    ["dt = '1970-07-01' OR id = '7'", () => true],
    ["dt BETWEEN '1971' AND '1972'", () => false],
  ])('(%s) reads only the runs for which it may be true', async (where, isNeeded) => {
    using database = await openDatabase(duckDb, {
      memoryMb: 500,
      threads: 1,
      folder: tmpdir(),
      diskBytes: 0,
    });
    const { connection } = database;
    await createSchema(connection, {
      tables: [...tablesOf(session, sources), table],
      views: viewsOver(sources),
    });
    await connection.run(
      "SET disabled_optimizers = 'statistics_propagation'; SET explain_output = 'optimized_only'",
    );

    const [found] = await neededPieces(
      connection,
      [table],
      `SELECT id FROM pieces.stored_many WHERE ${where}`,
    );

    expect((found?.pieces ?? []).map(({ values }) => values[0])).toEqual(days.filter(isNeeded));
  });
});

test('runs of days that a query excludes are not read, and neither are their manifests', async () => {
  const store = await storeWith(runsOn);
  const manifests = new Set<string>();
  const watched: Store = {
    ...store,
    get: (key, ...given) => {
      if (key.endsWith('_manifest.json')) manifests.add(/run=([^/]+)/.exec(key)?.[1] ?? key);
      return store.get(key, ...given);
    },
  };
  await using fresh = await openTables(watched);

  const rows = await rowsOf(fresh, "SELECT run FROM all_calculations WHERE dt = '2026-10-04' ORDER BY run");

  expect(rows.flat()).toEqual(runsOn(4).map(({ id }) => id));
  expect([...manifests].sort()).toEqual(rows.flat());
});

const day = fc.integer({ min: 0, max: 7 }).map((each) => `'2026-10-0${each}'`);

const condition: fc.Arbitrary<string> = fc.letrec<{ any: string; one: string; two: string }>((tie) => ({
  any: fc.oneof({ maxDepth: 2 }, tie('one'), tie('two')),
  one: fc.oneof(
    fc
      .tuple(
        fc.constantFrom('dt', 'left(dt, 10)', 'left(run, 8)', 'max_dt'),
        fc.constantFrom('<', '=', '>=', '<>'),
        day,
      )
      .map(([column, comparison, value]) =>
        column === 'left(run, 8)'
          ? `${column} ${comparison} replace(${value}, '-', '')`
          : `${column.replace('max_dt', 'dt')} ${comparison} ${value}`,
      ),
    fc.array(day, { minLength: 1, maxLength: 3 }).map((days) => `dt IN (${days.join(', ')})`),
    fc.tuple(day, day).map(([from, to]) => `dt BETWEEN ${from} AND ${to}`),
    fc.constantFrom(
      "id = '1'",
      "name LIKE '%3'",
      'dt IS NULL',
      'id IS NOT NULL',
      "CASE WHEN id = '0' THEN dt = '2026-10-02' END",
    ),
    fc.constant('dt = (SELECT max(dt) FROM all_calculations)'),
  ),
  two: fc
    .tuple(tie('any'), fc.constantFrom('AND', 'OR', 'AND NOT'), tie('any'))
    .map(([left, both, right]) => `(${left}) ${both} (${right})`),
})).any;

const query = fc
  .tuple(
    condition,
    condition,
    fc.constantFrom(
      'SELECT dt, id FROM all_calculations WHERE A',
      'SELECT dt, count(*) FROM all_calculations WHERE A GROUP BY dt HAVING count(*) > 1',
      'SELECT dt, id FROM all_calculations WHERE A UNION ALL SELECT dt, id FROM all_calculations WHERE B',
      'SELECT a.dt, b.dt, id FROM (FROM all_calculations WHERE A) a LEFT JOIN (FROM all_calculations WHERE B) b USING (id)',
      'SELECT dt, id FROM all_calculations c WHERE A AND EXISTS (SELECT 1 FROM all_calculations d WHERE d.id = c.id AND (B))',
      'SELECT dt, id FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY dt) AS number FROM all_calculations WHERE A) WHERE number < 3 AND (B)',
      'SELECT dt, id FROM all_calculations WHERE A EXCEPT SELECT dt, id FROM all_calculations WHERE B',
      'WITH x AS (SELECT * FROM all_calculations WHERE A) SELECT x.dt, y.id FROM x, x AS y WHERE x.id = y.id',
    ),
  )
  .map(([a, b, shape]) => shape.replaceAll(/\b[AB]\b/g, (which) => `(${which === 'A' ? a : b})`));

test('with any conditions on days and runs, a query returns the same rows as if it read all runs', async () => {
  await fc.assert(
    fc.asyncProperty(query, async (sql) => {
      const sorted = `SELECT * FROM (${sql}) ORDER BY ALL`;
      // The same rows in an in-memory table, about which nothing is known before it is read.
      const whole =
        'WITH all_calculations AS MATERIALIZED (SELECT * FROM main.all_calculations LIMIT 1000000000)';

      expect(await rowsOf(tables, sorted)).toEqual(await rowsOf(tables, `${whole} ${sorted}`));
    }),
    { numRuns: scaled(4, 400) },
  );
}, 300_000);

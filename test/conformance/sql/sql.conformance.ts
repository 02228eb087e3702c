import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Place, splitPlace } from '../../../lib/snapshot/keys.ts';
import { isSource, sourceDefinitions, sources } from '../../../lib/snapshot/sources/sources.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { savedQueries } from '../../../lib/tables/catalog/saved-queries.ts';
import { glueTableOf } from '../../../lib/tables/catalog/table-names.ts';
import {
  otherViews,
  type StoredTableName,
  storedTables,
  viewsOver,
} from '../../../lib/tables/catalog/tables.ts';
import { enginesOf } from '../../base/aws/engines.ts';
import { servicesEnvironment } from '../services/services-environment.ts';
import { connectTrino, createTables } from './create-tables.ts';
import { fittedView, parquetView, type Which } from './duckdb-views.ts';
import { openQueryEngine, type QueryEngine } from './engine.ts';
import { type Filled, fillStore, NARROWED, type RunOf } from './fill-store.ts';
import { asData, normalDuckDb, normalTrino, withExactNumbers } from './normal-rows.ts';
import { storedView } from './stored-view.ts';
import { runTrino } from './trino-client.ts';

const cleanUp = new AsyncDisposableStack();
let endpoint: string;
let tables: Awaited<ReturnType<typeof createTables>>;
let store: Store;
let filled: Filled;
/** DuckDB over the Parquet files that publishing wrote, and over the JSON lines as independent code reads them. */
let duckDb: Readonly<Record<'parquet' | 'lines', QueryEngine>>;

beforeAll(async () => {
  const { trino } = enginesOf(process.env);
  if (trino === undefined) throw new Error('expected Trino, got none');
  endpoint = trino.endpoint;
  await connectTrino(endpoint);
  tables = await createTables([NARROWED]);
  const environment = servicesEnvironment();
  store = await openStore(`s3://${tables.bucket}`, { s3: environment });
  const seed = Number(process.env['SQL_SEED'] ?? Date.now() % 1_000_000_000);
  console.log(`SQL_SEED=${seed}`);
  filled = await fillStore({ store, database: tables.database, environment, seed });
  const folder = await mkdtemp(join(tmpdir(), 'sql-'));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  await download(store, folder);
  duckDb = { parquet: await openDuckDb(folder, parquetView), lines: await openDuckDb(folder, fittedView) };
}, 600_000);

afterAll(async () => {
  for (const engine of Object.values(duckDb ?? {})) engine.close();
  await cleanUp.disposeAsync();
});

async function download(store: Store, folder: string): Promise<void> {
  for await (const { key } of store.list('')) {
    const object = await store.get(key);
    await mkdir(dirname(join(folder, key)), { recursive: true });
    await writeFile(join(folder, key), object?.body ?? '');
  }
}

async function openDuckDb(
  folder: string,
  viewOf: (place: Place, which: Which, runs: readonly RunOf[], folder: string) => Promise<string> | string,
): Promise<QueryEngine> {
  const engine = await openQueryEngine(folder);
  for (const name of Object.keys(storedTables) as StoredTableName[])
    await engine.run(await storedView(name, folder));
  for (const place of [...sources, NARROWED] as const) {
    const runs = filled[place];
    for (const [which, some] of [
      ['latest', runs.slice(-1)],
      ['all', runs],
    ] as const)
      await engine.run(await viewOf(place, which, some, folder));
  }
  for (const { name, sql } of VIEWS) await engine.run(`CREATE OR REPLACE VIEW ${name} AS ${sql}`);
  return engine;
}

/** The views that both engines have. */
const VIEWS = viewsOver(sources);

const inTrino = (sql: string) => runTrino(endpoint, sql, tables.database);

/** The sorted rows of a query in Trino, in DuckDB over Parquet, and in DuckDB over lines. */
async function rowsOf(sql: string, ofDuckDb = sql) {
  const trino = await inTrino(sql);
  const rows = async (engine: QueryEngine) => normalDuckDb(trino, await engine.lists(ofDuckDb)).toSorted();
  return {
    trino: normalTrino(trino).toSorted(),
    parquet: await rows(duckDb.parquet),
    lines: await rows(duckDb.lines),
  };
}

test('Trino finds the tables of the template', async () => {
  const { rows } = await inTrino('SHOW TABLES');

  expect(rows.flat().toSorted()).toEqual(tables.names.toSorted());
});

describe('each table has the same rows in Trino and in DuckDB, over Parquet and over lines:', () => {
  test.each(sources)('the latest run of %s', async (place) => {
    const { trino, parquet, lines } = await rowsOf(`SELECT * FROM ${tableNameOf(place)}`);

    expect(trino).toEqual(lines);
    expect(parquet).toEqual(lines);
    expect(trino.length).toBeGreaterThan(5);
  });

  test.each([...sources, NARROWED] as const)('all runs of %s', async (place) => {
    const { trino, parquet, lines } = await rowsOf(allOf(place));

    expect(trino).toEqual(lines);
    expect(parquet).toEqual(lines);
  });

  // For jobs, Trino lists a folder for each type and day, so that these tests take longer.
  test.each(OTHERS)('%s', { timeout: 240_000 }, async (name) => {
    const { trino, lines } = await rowsOf(`SELECT * FROM ${name}`);

    const [ofTrino = [], ofLines = []] = [trino, lines].map((rows) => rows.map(asData).toSorted());
    expect(ofTrino).toEqual(withExactNumbers(ofLines, ofTrino));
    expect(trino.length).toBeGreaterThan(0);
  });
});

/** The name of the view of a place. */
const tableNameOf = (place: Place) => glueTableOf(place).replace(/^stored_/, '');

/** The tables that do not belong to a place. */
const OTHERS = otherViews.map(({ name }) => name);

/** A narrowed snapshot has no views, so its stored columns are compared. */
const fieldsOf = (place: Place) =>
  Object.keys(sourceDefinitions[splitPlace(place).source].columns).join(', ').toLowerCase();

const allOf = (place: Place) =>
  isSource(place)
    ? `SELECT * FROM all_${tableNameOf(place)}`
    : `SELECT ${fieldsOf(place)}, dt, run FROM ${glueTableOf(place)}`;

describe('each saved query has the same rows in Trino and in DuckDB, over Parquet and over lines:', () => {
  test.each(savedQueries().map(({ name, sql }) => [name, sql] as const))('%s', async (_name, sql) => {
    const { trino, parquet, lines } = await rowsOf(sql);

    const [ofTrino, ofLines] = [trino, lines].map((rows) => rows.map(asData).toSorted());
    expect(ofTrino).toEqual(withExactNumbers(ofLines ?? [], ofTrino ?? []));
    expect(parquet).toEqual(lines);
    expect(trino.length).toBeGreaterThan(0);
  });
});

describe('in a store without data', () => {
  let empty: string;

  beforeAll(async () => {
    empty = (await createTables([NARROWED])).database;
  });

  test.each(savedQueries().map(({ name, sql }) => [name, sql] as const))(
    '%s has no rows',
    async (_name, sql) => {
      expect((await runTrino(endpoint, sql, empty)).rows).toEqual([]);
    },
  );

  test('tables have no rows', async () => {
    for (const name of tables.names)
      expect([name, (await runTrino(endpoint, `SELECT * FROM ${name}`, empty)).rows]).toEqual([name, []]);
  }, 240_000);
});

import { randomBytes } from 'node:crypto';
import type { Store } from '../../store/store.ts';
import type { Model } from '../compute/compute-model.ts';
import type { LastRun } from './last-runs.ts';
import { makeTable } from './model-tables.ts';
import { MODEL_FOLDER, modelTables, moveModel, readModel, runsIn, type StoredModel } from './stored-model.ts';
import { PARQUET_TYPE } from './uses-of-part.ts';

export type ModelToWrite = {
  readonly store: Store;
  readonly model: Model;
  /** What it was computed over. */
  readonly runs: readonly LastRun[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Of `latest.json` when the runs were read; undefined if there was none. */
  readonly etag: string | undefined;
};

/**
 * Stores a model and points at it, unless another writer has done so since: then its own tables are deleted, and it
 * returns undefined. Whoever is killed leaves the one before whole. A reader may still be in the tables that are replaced,
 * so they stay until the next writer deletes them, with what killed ones left.
 */
export async function writeModel({
  store,
  model,
  runs,
  now,
  etag,
}: ModelToWrite): Promise<StoredModel | undefined> {
  // What comes later belongs to a writer that may win after this one.
  const before = await keysIn(store);
  const replaced = (await readModel(store))?.model;
  const stored = await storeTables(store, model);
  const latest: StoredModel = {
    version: 1,
    asOf: new Date(now()).toISOString(),
    runs: runsIn(runs),
    tables: stored,
  };
  if (!(await moveModel(store, latest, etag))) {
    for (const key of Object.values(stored)) await store.delete(key);
    return undefined;
  }
  const named = new Set(Object.values(replaced?.tables ?? {}));
  for (const key of before) if (!named.has(key)) await store.delete(key);
  return latest;
}

async function storeTables(store: Store, model: Model): Promise<StoredModel['tables']> {
  // No other writer has these names, so whoever deletes what nobody names never deletes what somebody stores again.
  const token = randomBytes(8).toString('hex');
  const keyOf = (table: string) => `${MODEL_FOLDER}${table}/${token}.parquet`;
  for (const table of modelTables) {
    const { body } = makeTable(model, table);
    await store.put(keyOf(table), body, { contentType: PARQUET_TYPE });
  }
  return {
    calculations: keyOf('calculations'),
    cards: keyOf('cards'),
    datasets: keyOf('datasets'),
    owners: keyOf('owners'),
  };
}

async function keysIn(store: Store): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(MODEL_FOLDER)) if (key.endsWith('.parquet')) keys.push(key);
  return keys;
}

import { randomBytes } from 'node:crypto';
import type { Store } from '../../store/store.ts';
import type { Model } from '../compute/compute-model.ts';
import { type ModelTable, modelTables } from '../model-columns.ts';
import type { LastRun } from './last-runs.ts';
import { makeTable } from './model-tables.ts';
import { describeModel, type FoundModel, MODEL_FOLDER, moveModel, type StoredModel } from './stored-model.ts';
import { PARQUET_TYPE } from './uses-of-part.ts';

export type ModelToWrite = {
  readonly store: Store;
  readonly model: Model;
  /** What it was computed over. */
  readonly runs: readonly LastRun[];
  /** When these were the last ones, in epoch milliseconds. */
  readonly asOfMs: number;
  /** What was there when they were read. */
  readonly before: FoundModel;
};

/**
 * Stores a model and points at it, unless another writer has done so since: then its own tables are deleted, and it
 * returns undefined. Whoever is killed leaves the one before whole. A reader may still be in the tables that are replaced,
 * so they stay until the next writer deletes them, with what killed ones left.
 */
export async function writeModel(options: ModelToWrite): Promise<StoredModel | undefined> {
  const { store, before } = options;
  // What comes later belongs to a writer that may win after this one.
  const there = await keysIn(store);
  const tables = await storeTables(options);
  const latest = describeModel(tables, options);
  if (!(await moveModel(store, latest, before.etag))) {
    for (const { key } of Object.values(tables)) await store.delete(key);
    return undefined;
  }
  const replaced = new Set(Object.values(before.model?.tables ?? {}).map(({ key }) => key));
  for (const key of there) if (!replaced.has(key)) await store.delete(key);
  return latest;
}

async function storeTables({ store, model, asOfMs }: ModelToWrite): Promise<StoredModel['tables']> {
  // No other writer has these names, so whoever deletes what nobody names never deletes what somebody stores again.
  const token = randomBytes(8).toString('hex');
  const tables: Partial<Record<ModelTable, StoredModel['tables'][ModelTable]>> = {};
  for (const table of modelTables) {
    const { body, ...about } = makeTable(model, table, asOfMs);
    const key = `${MODEL_FOLDER}${table}/${token}.parquet`;
    await store.put(key, body, { contentType: PARQUET_TYPE, sha256: about.sha256 });
    tables[table] = { key, ...about };
  }
  return tables as StoredModel['tables'];
}

async function keysIn(store: Store): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(MODEL_FOLDER)) if (key.endsWith('.parquet')) keys.push(key);
  return keys;
}

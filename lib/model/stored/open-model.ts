import { randomBytes } from 'node:crypto';
import { freeMemory } from '../../base/index.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import { printStored, type Store, StoreError } from '../../store/index.ts';
import { PACKED_TYPE, pack, unpack } from '../columns/packed.ts';
import { columnsOfRuns, type ModelColumns } from '../columns/run-columns.ts';
import {
  type ComputedModel,
  computeModel,
  type Model,
  modelOf,
  type PackedModel,
} from '../compute/compute-model.ts';
import { type ModelTable, modelTables } from '../model-columns.ts';
import { type AddFault, type LastRun, lastRuns } from './last-runs.ts';
import { type MadeTable, makeTable } from './model-tables.ts';
import {
  type FoundModel,
  findModel,
  isBehind,
  keysOfModel,
  MODEL_FOLDER,
  MODEL_FORMAT,
  MODEL_KEY,
  runsIn,
  type StoredModel,
} from './stored-model.ts';

export type ModelToOpen = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Receives what is missing or damaged of what says which runs are the last. */
  readonly addFault: AddFault;
  /** The same of their parts, each time that one is read: the rest is read. Default: it is thrown. */
  readonly addDamage?: AddFault | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A model of which something is missing or damaged: it is computed again. */
  readonly damaged?: Pick<StoredModel, 'asOf'> | undefined;
};

/** A model whose tables are stored, or else in memory. */
export type CurrentModel = Pick<StoredModel, 'asOf' | 'runs'> & {
  readonly tables: Readonly<Record<ModelTable, StoredModel['tables'][ModelTable] | MadeTable>>;
};

/** The model in memory. */
export type OpenedModel = {
  readonly model: Model;
  /** What it was computed over. */
  readonly runs: readonly LastRun[];
  /** When these were the last ones, in epoch milliseconds. */
  readonly asOfMs: number;
  /** The columns of these, without the parts that are damaged. */
  readonly columns: ModelColumns;
};

/**
 * The tables of the model of the last published runs: what is stored, or else computed and stored. They are in memory where
 * the store takes nothing.
 */
export async function renewModel(options: ModelToOpen): Promise<CurrentModel> {
  const { stored, computed, runs, asOfMs } = await current(options);
  if (stored !== undefined) return stored;
  const made = modelTables.map((table) => [table, makeTable(computed, table, asOfMs)]);
  return {
    asOf: new Date(asOfMs).toISOString(),
    runs: runsIn(runs),
    tables: Object.fromEntries(made) as CurrentModel['tables'],
  };
}

/**
 * The model of the last published runs: what is stored, or else computed, and stored unless a part is damaged or the store
 * takes nothing. What uses the records of a damaged part lacks no target.
 */
export async function openModel(options: ModelToOpen): Promise<OpenedModel> {
  const { stored, computed, runs, asOfMs, columns } = await current(options);
  const packed = computed?.packed ?? (stored && (await readPacked(options.store, stored)));
  if (packed === undefined) return openModel({ ...options, damaged: stored });
  return { model: modelOf(packed), runs, asOfMs, columns };
}

/** A model is stored, or it was computed, or both. */
type Current = Omit<OpenedModel, 'model'> &
  (
    | { readonly stored: StoredModel; readonly computed: ComputedModel | undefined }
    | { readonly stored: undefined; readonly computed: ComputedModel }
  );

async function current(options: ModelToOpen): Promise<Current> {
  const { store, now, addFault, addDamage, signal, damaged } = options;
  let isSound = true;
  const before = await findModel(store);
  const asOfMs = now();
  const { runs } = await lastRuns(store, sources, addFault);
  const columns = columnsOfRuns({
    ...{ store, runs, signal },
    addFault:
      addDamage &&
      ((fault, source) => {
        isSound = false;
        addDamage(fault, source);
      }),
  });
  const { model } = before;
  if (model !== undefined && model.asOf !== damaged?.asOf && !isBehind(model, runs))
    return { stored: model, computed: undefined, runs, asOfMs: Date.parse(model.asOf), columns };
  const computed = await computeModel(columns);
  const stored = isSound ? await writeModel(store, { computed, runs, asOfMs, before }) : undefined;
  return { stored, computed, runs, asOfMs: stored === undefined ? asOfMs : Date.parse(stored.asOf), columns };
}

async function readPacked(store: Store, { packed }: StoredModel): Promise<PackedModel | undefined> {
  const body = (await store.get(packed))?.body;
  const model = body && unpack<PackedModel>(body);
  if (model !== undefined && body !== undefined) freeMemory(body);
  return model;
}

type ModelToWrite = Pick<OpenedModel, 'runs' | 'asOfMs'> & {
  readonly computed: ComputedModel;
  /** What was there before its runs were read. */
  readonly before: FoundModel;
};

/**
 * Stores a model and points at it, unless another writer has stored one of the same runs since, or of later ones: then its
 * own objects are deleted. Whoever is killed leaves the one before whole. A reader may still be in what is replaced, so that
 * stays until the next writer deletes it, with what killed ones left. Returns the model that is stored of these runs, if any.
 */
async function writeModel(store: Store, options: ModelToWrite): Promise<StoredModel | undefined> {
  const { runs, before } = options;
  try {
    // What comes later belongs to a writer that may win after this one.
    const there = (await Array.fromAsync(store.list(MODEL_FOLDER))).map(({ key }) => key);
    const latest = await storeModel(store, options);
    for (let found = before; ; found = await findModel(store)) {
      if (
        found !== before &&
        found.model !== undefined &&
        (found.model.asOf > latest.asOf || !isBehind(found.model, runs))
      ) {
        for (const key of keysOfModel(latest)) await store.delete(key);
        return isBehind(found.model, runs) ? undefined : found.model;
      }
      const condition = found.etag === undefined ? ({ ifAbsent: true } as const) : { ifMatch: found.etag };
      const put = await store.put(MODEL_KEY, printStored(latest), { condition });
      if (put.kind !== 'stored') continue;
      const readable = [MODEL_KEY, ...(found.model === undefined ? [] : keysOfModel(found.model))];
      for (const key of there) if (!readable.includes(key)) await store.delete(key);
      return latest;
    }
  } catch (error) {
    // Whoever may only read has it in memory.
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

async function storeModel(store: Store, { computed, runs, asOfMs }: ModelToWrite): Promise<StoredModel> {
  // No other writer has these names, so whoever deletes what nobody names never deletes what somebody stores again.
  const token = randomBytes(8).toString('hex');
  const tables: Partial<Record<ModelTable, StoredModel['tables'][ModelTable]>> = {};
  for (const table of modelTables) {
    const { body, ...about } = makeTable(computed, table, asOfMs);
    const key = `${MODEL_FOLDER}${table}/${token}.parquet`;
    await store.put(key, body, { contentType: 'application/vnd.apache.parquet', sha256: about.sha256 });
    tables[table] = { key, ...about };
    freeMemory(body);
  }
  const packed = `${MODEL_FOLDER}packed/${token}`;
  await store.put(packed, pack(computed.packed), { contentType: PACKED_TYPE });
  return {
    version: 1,
    format: MODEL_FORMAT,
    asOf: new Date(asOfMs).toISOString(),
    runs: runsIn(runs),
    tables: tables as StoredModel['tables'],
    packed,
  };
}

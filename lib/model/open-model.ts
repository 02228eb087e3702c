import { hash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { recordOf } from '../base/index.ts';
import { freeMemory, jsonBytesOf } from '../base/json/index.ts';
import { sources } from '../snapshot/sources/index.ts';
import {
  ifUnchanged,
  isKey,
  parseStored,
  printStored,
  type Store,
  StoreError,
  unlessDamaged,
} from '../store/index.ts';
import { type ColumnWriter, createColumnFile, parquetFormat } from '../tables/parquet/index.ts';
import { computeModel, type Model, modelOf, type PackedModel } from './compute-model.ts';
import { formulasIn, type ParsedKnownFormula } from './formulas/formula-uses.ts';
import { type KnownFormulas, listFormulas } from './formulas/known-formulas.ts';
import { type DatedModel, datedModel, HISTORY_FOLDER } from './history.ts';
import { type ModelTable, modelColumns, modelTableNames } from './model-tables.ts';
import { PACKED_TYPE, pack, unpack } from './packed.ts';
import { USES_FORMAT } from './part-uses.ts';
import { flagBits, flagsOf } from './rules/index.ts';
import { columnsOfRuns, type LastRun, lastRuns, type ModelColumns } from './runs.ts';
import { graphIn, HEAD_BYTES, type PackedUses, thingsIn } from './uses-graph.ts';

const key = z.string().check(z.refine(isKey));

const table = z.object({ key, bytes: z.number(), sha256: z.string() });

/** The version of the model's rules. Increase it whenever they change. */
const VERSION = 4;
const MODEL_FORMAT = parquetFormat({
  ...Object.fromEntries(
    Object.entries(modelColumns).map(([name, columns]) => [name, JSON.stringify(columns)]),
  ),
  packed: `${VERSION} ${USES_FORMAT}`,
});

/** Schema of `model/latest.json`. */
const modelSchema = z.object({
  version: z.literal(1),
  format: z.literal(MODEL_FORMAT),
  /** A time at which the model's runs were the latest runs, ISO 8601. */
  asOf: z.string(),
  /** The runs from which it was computed, by place, with the keys of their manifests. */
  runs: recordOf(z.object({ run: z.string(), manifest: key })),
  /** Identifies the formulas whose text was known: see `KnownFormulas.mark`. */
  formulas: z.string(),
  /**
   * The tables that SQL reads; null until SQL first needs them. If `tablesAsOf` differs from `asOf`, they belong to an
   * earlier model.
   */
  tables: z.nullable(
    z.object({
      calculations: table,
      cards: table,
      datasets: table,
      owners: table,
      uses: table,
      formulas: table,
    } satisfies Record<ModelTable, typeof table>),
  ),
  tablesAsOf: z.nullable(z.string()),
  /** The key of the packed model, which commands query. */
  packed: key,
});

type StoredModel = z.infer<typeof modelSchema>;

const MODEL_FOLDER = 'model/';
const MODEL_KEY = `${MODEL_FOLDER}latest.json`;

/** The stored `model/latest.json`. `model`: undefined if it is missing or damaged. */
type FoundModel = { readonly model: StoredModel | undefined; readonly etag: string | undefined };

/** Reads `model/latest.json`. */
export async function findModel(store: Pick<Store, 'get'>): Promise<FoundModel> {
  const stored = await store.get(MODEL_KEY);
  const parsed = Promise.try(() => stored && parseStored(MODEL_KEY, stored.body, modelSchema));
  return { model: await parsed.catch(unlessDamaged()), etag: stored?.etag };
}

/** The keys of all objects of a model, except `model/latest.json`. */
const keysOfModel = ({ tables, packed }: StoredModel): readonly string[] => [
  ...Object.values(tables ?? {}).map((each) => each.key),
  packed,
];

const runsIn = (runs: readonly LastRun[]): StoredModel['runs'] =>
  Object.fromEntries(runs.map(({ place, manifest: { run }, key: manifest }) => [place, { run, manifest }]));

/**
 * Whether a model was computed from other runs or other formulas than the current ones. `known`: the mark of the
 * current formulas. Default: formulas are not compared.
 */
function isOutdated(
  { runs, formulas }: Pick<StoredModel, 'runs' | 'formulas'>,
  current: readonly LastRun[],
  known = formulas,
): boolean {
  if (formulas !== known || current.length !== Object.keys(runs).length) return true;
  return current.some(({ place, key: manifest }) => runs[place]?.manifest !== manifest);
}

type ModelToOpen = {
  readonly store: Store;
  readonly now: () => number;
  /** Called with what is missing or damaged in the last runs, in words. Default: `StoredObjectError` is thrown. */
  readonly addFault?: ((fault: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A stored model that has a missing or damaged object, so it must be computed again. */
  readonly damaged?: Pick<StoredModel, 'asOf'> | undefined;
};

type StoredTables = Readonly<Record<ModelTable, z.infer<typeof table>>>;

/** The current model with its tables, which are stored, or in memory if they cannot be stored. */
export type CurrentModel = Pick<StoredModel, 'asOf' | 'runs'> & {
  readonly tables: Readonly<Record<ModelTable, StoredTables[ModelTable] | BuiltTable>>;
};

/** The model in memory. */
type OpenedModel = {
  readonly model: Model & Pick<DatedModel, 'since' | 'days'>;
  readonly runs: readonly LastRun[];
  /** A time at which the model's runs were the latest runs, in epoch milliseconds. */
  readonly asOfMs: number;
  readonly columns: ModelColumns;
};

/**
 * Returns the current model with its tables. Computes and stores it if the stored one is outdated; in a read-only store
 * it stays in memory. Throws `StoredObjectError`.
 */
export async function renewModel(options: ModelToOpen): Promise<CurrentModel> {
  const { stored, computed, runs, asOfMs } = await current(options, true);
  const tables = stored && ownTables(stored);
  if (stored !== undefined && tables !== undefined) return { ...stored, tables };
  if (computed === undefined) return renewModel({ ...options, damaged: stored });
  const built = modelTableNames.map((name) => [name, buildTable(computed, name, asOfMs)]);
  return {
    asOf: new Date(asOfMs).toISOString(),
    runs: runsIn(runs),
    tables: Object.fromEntries(built) as CurrentModel['tables'],
  };
}

/** The tables of a stored model; undefined if they are missing, or belong to an earlier model. */
const ownTables = ({ tables, tablesAsOf, asOf }: StoredModel): StoredTables | undefined =>
  tables !== null && tablesAsOf === asOf ? tables : undefined;

/**
 * Opens the current model for queries. Its tables take twice as long as the model itself, so they are built only when
 * SQL first needs them.
 */
export async function openModel(options: ModelToOpen): Promise<OpenedModel> {
  const { stored, computed, ...about } = await current(options, false);
  const packed = computed ?? (stored && (await readPacked(options.store, stored)));
  if (packed === undefined) return openModel({ ...options, damaged: stored });
  const { since, days } = packed;
  return { model: { ...modelOf(packed), since, days }, ...about };
}

async function current(
  { store, now, addFault, signal, damaged }: ModelToOpen,
  withTables: boolean,
): Promise<
  Omit<OpenedModel, 'model'> &
    (
      | { readonly stored: StoredModel; readonly computed: DatedModel | undefined }
      | { readonly stored: undefined; readonly computed: DatedModel }
    )
> {
  const before = await findModel(store);
  const nowMs = now();
  const { runs } = await lastRuns(store, sources, addFault);
  const known = await listFormulas(store, signal).catch(unlessDenied);
  const columns = columnsOfRuns({ store, runs, signal });
  const { model } = before;
  const usable =
    model?.asOf === damaged?.asOf || model === undefined || isOutdated(model, runs, known?.mark)
      ? undefined
      : model;
  if (usable !== undefined && (!withTables || ownTables(usable) !== undefined))
    return { stored: usable, computed: undefined, runs, asOfMs: Date.parse(usable.asOf), columns };
  const packed = usable && (await readPacked(store, usable));
  const dated = packed ? undefined : await datedModel(store, await computeModel(columns, known), runs);
  const computed = (packed ?? dated?.model) as DatedModel;
  const asOfMs = packed === undefined ? nowMs : Date.parse(usable?.asOf ?? '');
  const stored = await writeModel(store, {
    computed,
    runs,
    known,
    asOfMs,
    before,
    withTables,
    writeHistory: dated?.write,
  });
  return { stored, computed, runs, asOfMs: stored === undefined ? asOfMs : Date.parse(stored.asOf), columns };
}

/** Returns undefined if access is denied: an account may have permission to read published runs, but not formulas. */
function unlessDenied(error: unknown): undefined {
  if (!(error instanceof StoreError && error.failure.kind === 'denied')) throw error;
}

async function readPacked(store: Store, { packed }: StoredModel): Promise<DatedModel | undefined> {
  const body = (await store.get(packed))?.body;
  const model = body && unpack<DatedModel>(body);
  if (model !== undefined && body !== undefined) freeMemory(body);
  return model;
}

type ModelToWrite = Pick<OpenedModel, 'runs' | 'asOfMs'> & {
  readonly computed: DatedModel;
  /** Stores the model's history; absent for a model that was stored before. */
  readonly writeHistory: (() => Promise<void>) | undefined;
  /** The known formulas; undefined without permission to read formulas. */
  readonly known: KnownFormulas | undefined;
  /** The stored `latest.json`, as it was before the runs were read. */
  readonly before: FoundModel;
  /** Whether to build the tables. If false, the tables of the previous model stay. */
  readonly withTables: boolean;
};

/**
 * Stores a model, and moves `latest.json` to it. If another writer has stored a model in the meantime, deletes its own
 * objects instead. If a writer is killed, the previous model stays complete. Readers may still use a replaced model, so
 * only the next writer deletes it, together with the objects of killed writers. Returns the stored model of these runs,
 * if any.
 */
async function writeModel(store: Store, options: ModelToWrite): Promise<StoredModel | undefined> {
  const { runs, known, before } = options;
  try {
    await options.writeHistory?.();
    const all = await Array.fromAsync(store.list(MODEL_FOLDER), ({ key }) => key);
    const storedBefore = all.filter((each) => !each.startsWith(HISTORY_FOLDER));
    const latest = await storeModel(store, options);
    const put = await store.put(MODEL_KEY, printStored(latest), { condition: ifUnchanged(before.etag) });
    const model = put.kind === 'stored' ? latest : (await findModel(store)).model;
    const readable = [MODEL_KEY, ...(before.model === undefined ? [] : keysOfModel(before.model))];
    const leftover =
      model === latest
        ? storedBefore.filter((each) => !readable.includes(each))
        : keysOfModel(latest).filter((each) => !storedBefore.includes(each));
    for (const each of leftover) await store.delete(each);
    return model === undefined || isOutdated(model, runs, known?.mark) ? undefined : model;
  } catch (error) {
    // If the store is read-only, the model stays in memory.
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

async function storeModel(
  store: Store,
  { computed, runs, known, asOfMs, before, withTables }: ModelToWrite,
): Promise<StoredModel> {
  // A new token, so that no other writer uses the names of this model's objects.
  const token = randomBytes(8).toString('hex');
  const tables: Partial<Record<ModelTable, StoredTables[ModelTable]>> = {};
  for (const name of withTables ? modelTableNames : []) {
    const { body, ...about } = buildTable(computed, name, asOfMs);
    const stored = { key: `${MODEL_FOLDER}${name}/${token}.parquet`, ...about };
    await store.put(stored.key, body, {
      contentType: 'application/vnd.apache.parquet',
      sha256: about.sha256,
    });
    tables[name] = stored;
    freeMemory(body);
  }
  const packed = `${MODEL_FOLDER}packed/${token}`;
  await store.put(packed, pack(computed), { contentType: PACKED_TYPE });
  const asOf = new Date(asOfMs).toISOString();
  const { tables: kept = null, tablesAsOf = null } = before.model ?? {};
  return {
    version: 1,
    format: MODEL_FORMAT,
    asOf,
    runs: runsIn(runs),
    formulas: known?.mark ?? '',
    packed,
    tables: withTables ? (tables as StoredTables) : kept,
    tablesAsOf: withTables ? asOf : tablesAsOf,
  };
}

type BuiltTable = {
  readonly body: Buffer;
  readonly bytes: number;
  readonly sha256: string;
};

function buildTable(model: DatedModel, table: ModelTable, asOfMs: number): BuiltTable {
  const { body } = builders[table](model, asOfMs);
  return { body, bytes: body.byteLength, sha256: hash('sha256', body) };
}

const builders: Readonly<
  Record<ModelTable, (model: DatedModel, asOfMs: number) => { readonly body: Buffer }>
> = {
  calculations: (model, asOfMs) => flaggedTable('calculation', model, asOfMs),
  cards: (model, asOfMs) => flaggedTable('card', model, asOfMs),
  datasets: ({ datasets }, asOfMs) => countedTable(modelColumns.datasets, datasets, asOfMs),
  owners: ({ owners }, asOfMs) => countedTable(modelColumns.owners, owners, asOfMs),
  uses: usesTable,
  formulas: ({ formulas }, asOfMs) =>
    countedTable(modelColumns.formulas, Array.from(formulasIn(formulas), formulaRow), asOfMs),
};

const sinceOf = { calculation: ['unused', 'broken'], card: ['broken'] } as const;

const formulaRow = ({ id, dataType, atMs, columns, functions, ...said }: ParsedKnownFormula) => ({
  ...said,
  calculation_id: id,
  data_type: dataType,
  known_at: atMs,
  columns: JSON.stringify(columns),
  functions: JSON.stringify(functions),
});

/**
 * The table of calculations or cards: a row for each one with a record. If records write its id differently (1008,
 * "01008"), there is a row for each form, so that SQL can join on the id as written.
 */
function flaggedTable(
  kind: keyof typeof flagsOf,
  { uses, flags, since, ...model }: DatedModel,
  asOfMs: number,
) {
  const { nodes, spellings } = model[`${kind}s`];
  const names: readonly (typeof flagsOf.calculation)[number][] = flagsOf[kind];
  // Cards have only some of the flags of calculations.
  const file = createColumnFile(modelColumns[`${kind}s`] as typeof modelColumns.calculations);
  const { record_id, thing_id, as_of, ...rest } = file.columns;
  const addId = idsOf(uses);
  const add = (node: number, spelling?: string) => {
    if (spelling === undefined) addId(record_id, node);
    else record_id.add(spelling);
    addId(thing_id, node);
    as_of.add(asOfMs);
    for (const name of names) rest[name].add(((flags[node] ?? 0) & flagBits[name]) !== 0);
    for (const what of sinceOf[kind]) rest[`${what}_since`].add((since[what][node] ?? 0) * 1_000 || null);
    file.endRow();
  };
  for (const node of nodes) add(node);
  for (const [spelling, node] of spellings) add(node, spelling);
  return file.end();
}

function idsOf({ things }: PackedUses) {
  const source = jsonBytesOf(things.bytes);
  return (column: ColumnWriter, node: number) =>
    column.addSpan(source, (things.starts[node] ?? 0) + HEAD_BYTES, things.starts[node + 1] ?? 0);
}

function countedTable<Name extends string>(
  types: Readonly<Record<Name, 'string' | 'bigint' | 'boolean'>>,
  rows: readonly Readonly<Partial<Record<NoInfer<Name>, string | number | null>>>[],
  asOfMs: number,
) {
  const file = createColumnFile(types);
  const names = Object.keys(types) as Name[];
  for (const row of rows) {
    for (const name of names) file.columns[name].add(name === 'as_of' ? asOfMs : (row[name] ?? null));
    file.endRow();
  }
  return file.end();
}

function usesTable({ uses }: PackedModel, asOfMs: number) {
  const file = createColumnFile(modelColumns.uses);
  const { columns } = file;
  const addId = idsOf(uses);
  const { kindAt } = thingsIn(uses.things);
  const graph = graphIn(uses);
  for (let edge = 0; edge < graph.user.length; edge += 1) {
    const user = graph.user[edge] ?? 0;
    const used = graph.used[edge] ?? 0;
    const stater = graph.staterAt(edge);
    columns.user_kind.add(kindAt(user));
    addId(columns.user_id, user);
    columns.used_kind.add(kindAt(used));
    addId(columns.used_id, used);
    columns.relation.add(graph.relationAt(edge));
    columns.validity.add(graph.validityAt(edge));
    columns.broken.add(graph.isBrokenAt(edge));
    columns.stated_by.add(graph.statedByAt(edge));
    columns.stater_kind.add(kindAt(stater));
    addId(columns.stater_id, stater);
    columns.as_of.add(asOfMs);
    file.endRow();
  }
  return file.end();
}

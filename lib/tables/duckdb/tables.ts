import { once } from '../../base/index.ts';
import { withOther } from '../../columns.ts';
import {
  type CurrentModel,
  lastRuns,
  type ModelTable,
  modelColumns,
  modelTableNames,
  renewModel,
} from '../../model/index.ts';
import { manifestOf, placesIn, publishedRuns, readLatest } from '../../snapshot/history/index.ts';
import {
  isSource,
  type Place,
  parsePlace,
  type Source,
  sourceDefinitions,
  sourceOf,
  sources,
} from '../../snapshot/sources/index.ts';
import { type Store, StoredObjectError, StoreError, unlessDamaged } from '../../store/index.ts';
import { buildRun } from '../build/build-tables.ts';
import { rowsOfRuns } from '../build/runs-table.ts';
import { gluePartitionKeys, tableNames } from '../catalog/table-names.ts';
import { type StoredTableName, storedTables } from '../catalog/tables.ts';
import { buildParquet, parquetOfLines, parquetOfRun } from '../parquet/part-files.ts';
import { objectTables } from './object-tables.ts';
import {
  type FileToRead,
  fileOf,
  type Piece,
  type Session,
  storedFile,
  type Table,
  writeCopy,
} from './stored-files.ts';

/** The stored tables that views read, for one query. */
export function tablesOf(session: Session, places: readonly Place[]): readonly Table[] {
  const model = createQueryModel(session);
  const ofRuns = [...tableNames(places)].map(([place, name]) => runTables(session, model, place, name));
  return [
    ...ofRuns.flat(),
    ...modelTables(model),
    runsTable(session, places),
    changesTable(session, places),
    ...objectTables(session).map((table) =>
      table.name === HISTORY ? withCurrentModel(table, model) : table,
    ),
  ];
}

const HISTORY = 'stored_model_history' satisfies `stored_${StoredTableName}`;

/** The table `model_history`, which includes the current model: it is stored before the table is read. */
const withCurrentModel = (table: Table, model: QueryModel): Table => ({
  ...table,
  async pieces(reads) {
    await model.current();
    return table.pieces(reads);
  },
});

/** The places in a store that have tables: all sources, even without runs, and the places of narrowed snapshots. */
export const placesWithTables = async (store: Store): Promise<readonly Place[]> => [
  ...sources,
  ...(await placesIn(store)).filter((place) => !isSource(place)),
];

/** The model that a query reads. All tables of the query are from the same model. */
type QueryModel = {
  /** Returns the model; undefined if it cannot be computed because an object is damaged, which is reported. */
  readonly current: () => Promise<CurrentModel | undefined>;
  /** A table of the model as a file on this machine. It is built again if the stored file is missing or damaged. */
  readonly file: (table: ModelTable) => ReturnType<typeof storedFile>;
};

function createQueryModel(session: Session): QueryModel {
  const { store, report: addFault, now, signal } = session;
  let found: Promise<CurrentModel | undefined> | undefined;
  const renewed = (damaged?: CurrentModel) =>
    renewModel({ store, now, addFault, signal, damaged }).catch(unlessDamaged(addFault));
  const current = () => {
    found ??= renewed();
    return found;
  };
  return {
    current,
    async file(table) {
      const model = await current();
      const file = model && (await modelFile(session, model.tables[table]));
      if (model === undefined || file !== undefined) return file;
      // The first table that turns out to be missing renews the model for all tables.
      if ((await current()) === model) found = renewed(model);
      const again = await current();
      const rebuilt = again && (await modelFile(session, again.tables[table]));
      if (again !== undefined && rebuilt === undefined) addFault(`the table ${table} of the model is lost`);
      return rebuilt;
    },
  };
}

async function modelFile(session: Session, table: CurrentModel['tables'][ModelTable]) {
  if (!('body' in table)) return await storedFile(session, table);
  return await session.copies.get(`model ${table.sha256}`, (path) => writeCopy(path, table.body));
}

const modelTables = (model: QueryModel): readonly Table[] =>
  modelTableNames.map((table) => ({
    name: `stored_model_${table}`,
    columns: modelColumns[table],
    pieceColumns: [],
    pieces: async () => [
      {
        values: [],
        async files() {
          const file = await model.file(table);
          return file ? [{ bytes: file.sizeBytes, copiedBytes: 0, open: async () => file }] : [];
        },
      },
    ],
  }));

type RunAt = { readonly run: string; readonly manifest: string };

/**
 * The stored tables of a place: of its latest run, and of all of its published runs. `name`: the name of the place's
 * table.
 */
function runTables(session: Session, model: QueryModel, place: Place, name: string): readonly Table[] {
  const { columns } = sourceDefinitions[sourceOf(place)];
  const pieceColumns = gluePartitionKeys;
  const pieceOf = (of: Place, at: RunAt): Piece => ({
    values: [dayOf(at), at.run],
    files: () => filesOfRun(session, of, at),
  });
  const latest: Table['pieces'] = async (reads) => {
    const ofModel = reads(/^stored_model_/) ? ((await model.current())?.runs ?? {}) : {};
    const runs = await latestRuns(session, place, ofModel);
    return runs.map((run) => pieceOf(run.place, run));
  };
  const all = async () => (await runsOf(session, place)).map((at) => pieceOf(place, at));
  return [
    { name: `stored_latest_${name}`, columns, pieceColumns, pieces: latest },
    { name: `stored_${name}`, columns, pieceColumns, pieces: all },
  ];
}

/**
 * The latest run of a place; for a source without such a run, the latest runs of its narrowed places. If the query reads the
 * model, they are the runs from which the model was computed (`ofModel`). What is missing is reported to the session.
 */
async function latestRuns(
  session: Session,
  place: Place,
  ofModel: CurrentModel['runs'],
): Promise<readonly (RunAt & { readonly place: Place })[]> {
  const { store, report, note } = session;
  if (!isSource(place)) {
    const latest = ofModel[place] ?? (await readLatest(store, place).catch(unlessDamaged(report)));
    return latest === undefined ? [] : [{ ...latest, place }];
  }
  const computedOver = Object.entries(ofModel).flatMap(([name, at]) => {
    const of = parsePlace(name);
    return of !== undefined && sourceOf(of) === place ? [{ ...at, place: of }] : [];
  });
  const found =
    computedOver.length > 0
      ? computedOver
      : (await lastRuns(store, [place], report)).runs.map(({ place: of, key, manifest: { run } }) => ({
          place: of,
          run,
          manifest: key,
        }));
  const narrowed = found.flatMap((run) => (run.place === place ? [] : run.place));
  if (found.length === 0) note(`no run of ${place} is published: it has no rows`);
  if (narrowed.length > 0)
    note(`no whole run of ${place} is published: its rows are those of ${narrowed.join(', ')}`);
  return found;
}

const runsOf = async (session: Session, place: Place): Promise<readonly RunAt[]> =>
  (await publishedRuns(session.store, place, session).catch(unlessDamaged(session.report))) ?? [];

const dayOf = ({ manifest }: RunAt): string => /\/dt=([^/]+)\//.exec(manifest)?.[1] ?? '';

const manifestAt = ({ store, report }: Session, place: Place, { run, manifest }: RunAt) =>
  manifestOf(store, manifest, { place, run }).catch(unlessDamaged(report));

/** The columns whose field the platform's search does not return, with the name of the field. */
const unsentColumns = (source: Source): readonly (readonly [column: string, field: string])[] =>
  Object.entries(sourceDefinitions[source].table.columns).flatMap(([name, { isUnsent }]) =>
    isUnsent ? [[name.toLowerCase(), name] as const] : [],
  );

/**
 * The Parquet files of a run's parts. Missing ones are built and stored. If the store refuses them, they are built only
 * for this query.
 */
async function filesOfRun(session: Session, place: Place, at: RunAt): Promise<readonly FileToRead[]> {
  const { store, signal } = session;
  const manifest = await manifestAt(session, place, at);
  if (manifest === undefined) return [];
  const stored = () => parquetOfRun(store, place, manifest);
  const built = once(async () => {
    await buildParquetOf(session, place, at);
    return await stored();
  });
  const source = sourceOf(place);
  const { columns } = sourceDefinitions[source];
  for (const [column, field] of unsentColumns(source))
    if (session.namesColumn(column) && (manifest.fields[field] ?? []).every((type) => type === 'null'))
      session.note(
        `${column} is null in all ${source}: the platform’s search does not return it. The table formulas has the known formulas`,
      );
  const found = await stored();
  return manifest.parts.map((part, index) =>
    fileOf(session, {
      parquet: found[index],
      store: async () => (await built())[index],
      name: part.key,
      bytes: part.bytes,
      build: async () => (await buildParquet({ store, part, signal }, columns)).body,
    }),
  );
}

/** Builds and stores the Parquet that a run lacks. If the store refuses it, that is not an error. */
async function buildParquetOf({ store, note, signal }: Session, place: Place, at: RunAt): Promise<void> {
  try {
    await buildRun({
      store,
      place,
      run: { ...at, isTagged: false, wasReplaced: false },
      // As if it were the latest run, so that it is not tagged as replaced: the function write-tables does that.
      isLatest: true,
      built: new Set(),
      neighbours: [],
      isOver: () => false,
      warn: note,
      signal,
    });
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof StoredObjectError)) throw error;
  }
}

/** The table of the changes of published runs, with one piece for each run. */
const changesTable = (session: Session, places: readonly Place[]): Table => ({
  name: 'stored_changes',
  columns: storedTables.changes.columns,
  pieceColumns: ['place', 'dt', 'run'],
  async pieces() {
    const ofPlaces = places.map(async (place) =>
      (await runsOf(session, place)).map((at) => ({
        values: [place, dayOf(at), at.run],
        files: () => filesOfChanges(session, place, at),
      })),
    );
    return (await Promise.all(ofPlaces)).flat();
  },
});

/**
 * The file of a run's changes; an empty list if the run was not compared with another one. If the file no longer
 * exists, reading it reports that, since an empty result would be wrong.
 */
async function filesOfChanges(session: Session, place: Place, at: RunAt): Promise<readonly FileToRead[]> {
  const { store, signal } = session;
  const changes = (await manifestAt(session, place, at))?.changes;
  if (!changes) return [];
  const { key } = changes;
  const { value: object } = await store.list(key).next();
  const columns = withOther(storedTables.changes.columns);
  const build = async () => (await buildParquet({ store, part: { key }, signal }, columns)).body;
  return [fileOf(session, { name: key, bytes: object?.sizeBytes ?? 0, build })];
}

const runsTable = (session: Session, places: readonly Place[]): Table => ({
  name: 'stored_runs',
  columns: storedTables.runs.columns,
  pieceColumns: [],
  pieces: async () => [
    {
      values: [],
      files: async () => {
        const build = (report: Session['report']) =>
          parquetOfLines(
            linesOfRuns({ ...session, report }, places),
            withOther(storedTables.runs.columns),
            report,
          );
        return [fileOf(session, { name: `runs ${Date.now()}`, bytes: 0, build })];
      },
    },
  ],
});

async function* linesOfRuns(session: Session, places: readonly Place[]) {
  for (const place of places)
    for await (const { of: _, ...row } of rowsOfRuns({
      ...session,
      place,
      runs: await runsOf(session, place),
    }))
      yield { json: Buffer.from(JSON.stringify(row)), location: `${place} ${row.run}` };
}

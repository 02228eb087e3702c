import { hash } from 'node:crypto';
import { readAhead } from '../../base/index.ts';
import { withOther } from '../../columns.ts';
import { readResultBytes } from '../../jobs/index.ts';
import { findRows, SCORES_FOLDER } from '../../jobs/texts/index.ts';
import { idOfSegment, type ListedObject, missingObject, unlessDamaged } from '../../store/index.ts';
import { storedTables } from '../catalog/tables.ts';
import { parquetOfLines } from '../parquet/part-files.ts';
import { type FileToRead, fileOf, type Piece, type Session, type Table } from './stored-files.ts';

/** A table over stored JSON objects. `read`: returns the rows of an object, each as JSON. */
type ObjectTable = {
  readonly name: 'jobs' | 'refused' | 'formulas' | 'scores' | 'model_history';
  readonly pieceColumns: readonly string[];
  readonly read: (session: Session, key: string, signal: AbortSignal) => Promise<readonly Buffer[]>;
  /** Finds the table's folders. Each becomes a piece: `values` of the piece columns, and the `prefix` of its keys. */
  readonly folders: (session: Session) => AsyncIterable<Folder> | Iterable<Folder>;
};

type Folder = { readonly values: readonly string[]; readonly prefix: string };

/** Reads an object as one row; no row if the object has been deleted in the meantime. */
const readObject: ObjectTable['read'] = async ({ store }, key, signal) => {
  const body = await readResultBytes(store, key, signal);
  return body === undefined ? [] : [body];
};

/** Reads each line of an object as a row. */
const readLines: ObjectTable['read'] = async ({ store }, key, signal) => {
  const text = (await readResultBytes(store, key, signal))?.toString() ?? '';
  return text.split('\n').flatMap((line) => (line === '' ? [] : Buffer.from(line)));
};

const objectTableList: readonly ObjectTable[] = [
  // Jobs that have ended, by type and by the day on which the job was first claimed.
  { name: 'jobs', pieceColumns: ['type', 'dt'], read: readObject, folders: daysOfJobs },
  // Messages that could not become jobs.
  { name: 'refused', pieceColumns: [], read: readObject, folders: () => [wholeFolder('refused')] },
  // Calculations, as the platform returned them when platform-sync set their formulas.
  { name: 'formulas', pieceColumns: [], read: readObject, folders: () => [wholeFolder('formulas')] },
  // The counts of models, one object a day.
  { name: 'model_history', pieceColumns: [], read: readLines, folders: () => [wholeFolder('model_history')] },
  // The texts of all batches.
  { name: 'scores', pieceColumns: ['batch'], read: readPart, folders: batches },
];

const wholeFolder = (name: 'refused' | 'formulas' | 'model_history'): Folder => ({
  values: [],
  prefix: storedTables[name].folder,
});

async function* daysOfJobs({ store, signal }: Session): AsyncGenerator<Folder> {
  const { folder } = storedTables.jobs;
  for await (const ofType of store.folders(folder, { signal }))
    for await (const ofDay of store.folders(`${ofType}/dt=`, { signal }))
      yield { values: ofDay.slice(folder.length).split('/dt='), prefix: `${ofDay}/` };
}

async function* batches({ store, signal }: Session): AsyncGenerator<Folder> {
  for await (const folder of store.folders(SCORES_FOLDER, { signal })) {
    const batch = idOfSegment(folder.slice(SCORES_FOLDER.length));
    if (batch !== undefined) yield { values: [batch], prefix: `${folder}/part-` };
  }
}

async function readPart({ store }: Session, key: string, signal: AbortSignal): Promise<readonly Buffer[]> {
  const rows = await findRows(store, key, signal);
  if (rows === undefined) throw missingObject(store, key, 'a part');
  return rows;
}

/** The stored tables over JSON objects. */
export const objectTables = (session: Session): readonly Table[] =>
  objectTableList.map((table) => ({
    name: `stored_${table.name}`,
    columns: Object.fromEntries(
      Object.entries(storedTables[table.name].columns).filter(([name]) => !table.pieceColumns.includes(name)),
    ),
    pieceColumns: table.pieceColumns,
    pieces: async () => {
      const folders = await Array.fromAsync(table.folders(session));
      return folders.map(
        ({ values, prefix }): Piece => ({ values, files: () => filesBelow(session, table, prefix) }),
      );
    },
  }));

async function filesBelow(
  session: Session,
  table: ObjectTable,
  prefix: string,
): Promise<readonly FileToRead[]> {
  const { store, signal } = session;
  const listed = await Array.fromAsync(store.list(prefix, { signal }));
  const objects = listed.filter(({ key }) => /\/(?:[^_/][^/]*\.json|part-[^/]*)$/.test(key));
  const columns = withOther(storedTables[table.name].columns);
  return [...groupsOf(objects)].map((group) =>
    fileOf(session, {
      name: hash('sha256', group.map(({ key, mark }) => `${key} ${mark}\n`).join('')),
      bytes: group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      build: (report) => parquetOfLines(linesOf({ ...session, report }, table, group), columns, report),
    }),
  );
}

/** Maximum bytes of objects that become one file. A larger object becomes a file by itself. */
const GROUP_BYTES = 64_000_000;

function* groupsOf(objects: readonly ListedObject[]): Generator<readonly ListedObject[]> {
  let group: ListedObject[] = [];
  let bytes = 0;
  for (const object of objects) {
    if (group.length > 0 && bytes + object.sizeBytes > GROUP_BYTES) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(object);
    bytes += object.sizeBytes;
  }
  if (group.length > 0) yield group;
}

/** How many objects to read at the same time. A read takes tens of milliseconds, and most objects are small. */
const CONCURRENCY = 32;

async function* linesOf(
  session: Session,
  { read }: ObjectTable,
  items: readonly ListedObject[],
): AsyncGenerator<{ readonly json: Buffer; readonly location: string }> {
  const bodies = readAhead({
    items,
    concurrency: CONCURRENCY,
    signal: session.signal,
    read: async ({ key }, aborted) => ({
      key,
      lines: (await read(session, key, aborted).catch(unlessDamaged(session.report))) ?? [],
    }),
  });
  for await (const { key, lines } of bodies)
    for (const [at, json] of lines.entries())
      yield { json, location: lines.length === 1 ? key : `${key}, line ${at + 1}` };
}

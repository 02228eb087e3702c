import { readAhead } from '../../../snapshot/sources/read-ahead.ts';
import type { Columns } from '../../../snapshot/sources/source-definition.ts';
import type { ListedObject } from '../../../store/store.ts';
import { getBounded, StoredObjectError } from '../../../store/stored-json.ts';
import { orReport } from '../or-report.ts';
import type { TextRow } from '../row-file.ts';
import type { Session } from '../session.ts';
import { prepareStored, type StoredFile } from '../stored-files.ts';
import type { Piece } from '../table.ts';
import { jsonColumnsOf, textRowOf } from '../text-row.ts';

/** How many small objects are read at once. */
const READ_AHEAD = 16;

/** A larger one is left out, and reported. */
const MOST_OBJECT_BYTES = 32 * 1024 * 1024;

/** Fewer are read at once as fast as the Parquet of them is found. */
const LEAST_OBJECTS = 8;

/** A piece of objects below `prefix`, each a JSON object and one row. */
export const pieceOfObjects = (
  session: Session,
  {
    prefix,
    values,
    columns,
    parquetOf,
  }: {
    readonly prefix: string;
    readonly values: readonly string[];
    readonly columns: Columns;
    /** Finds the Parquet of the objects. Default: there is none. */
    readonly parquetOf?: (objects: readonly ListedObject[]) => Promise<readonly StoredFile<ListedObject>[]>;
  },
): Piece => ({
  values,
  prepare: async () => {
    const objects: ListedObject[] = [];
    for await (const object of session.store.list(prefix, session)) objects.push(object);
    const isWorthIt = parquetOf !== undefined && objects.length >= LEAST_OBJECTS;
    return prepareStored(session, {
      files: isWorthIt ? await parquetOf(objects) : [fileOf(objects)],
      rowsOf: (items) => rowsOf(session, items, columns),
      unpacked: 1,
      jsonColumns: jsonColumnsOf(columns),
    });
  },
});

/** Objects that are read as they are, or their Parquet. */
export const fileOf = (
  items: readonly ListedObject[],
  parquet?: StoredFile<ListedObject>['parquet'],
): StoredFile<ListedObject> => ({
  items,
  bytes: items.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  parquet,
});

async function* rowsOf(
  session: Session,
  objects: readonly ListedObject[],
  columns: Columns,
): AsyncGenerator<TextRow> {
  const rows = readAhead({
    items: objects.filter(({ key }) => key.endsWith('.json')),
    concurrency: READ_AHEAD,
    signal: session.signal,
    read: ({ key }) => orReport(session, rowOf(session, key, columns)),
  });
  for await (const row of rows) if (row !== undefined) yield row;
}

async function rowOf({ store }: Session, key: string, columns: Columns): Promise<TextRow | undefined> {
  const stored = await getBounded(store, key, MOST_OBJECT_BYTES);
  // It may have been removed since it was listed.
  if (stored === undefined) return undefined;
  try {
    return textRowOf(stored.body, columns);
  } catch (cause) {
    throw new StoredObjectError('invalid', `${key}: expected a JSON object, got something else`, { cause });
  }
}

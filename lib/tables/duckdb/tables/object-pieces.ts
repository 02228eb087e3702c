import { readAhead } from '../../../snapshot/sources/read-ahead.ts';
import type { Columns } from '../../../snapshot/sources/source-definition.ts';
import type { ListedObject } from '../../../store/store.ts';
import { getBounded, StoredObjectError } from '../../../store/stored-json.ts';
import { orReport } from '../or-report.ts';
import { type TextRow, writeRows } from '../row-file.ts';
import type { Session } from '../session.ts';
import type { Piece } from '../table.ts';
import { textRowOf } from '../text-row.ts';

/** How many small objects are read at once. */
const READ_AHEAD = 16;

/** A larger one is left out, and reported. */
const MOST_OBJECT_BYTES = 32 * 1024 * 1024;

/** A piece of objects below `prefix`, each a JSON object and one row. */
export const pieceOfObjects = (
  session: Session,
  {
    prefix,
    values,
    columns,
  }: {
    readonly prefix: string;
    readonly values: readonly string[];
    readonly columns: Columns;
  },
): Piece => ({
  values,
  prepare: async () => {
    const objects: ListedObject[] = [];
    for await (const object of session.store.list(prefix, session))
      if (object.key.endsWith('.json')) objects.push(object);
    const bytes = objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return {
      bytes,
      copiedBytes: bytes,
      load: async () => [await writeRows(session.folder, rowsOf(session, objects, columns))],
    };
  },
});

async function* rowsOf(
  session: Session,
  objects: readonly ListedObject[],
  columns: Columns,
): AsyncGenerator<TextRow> {
  const rows = readAhead({
    items: objects,
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

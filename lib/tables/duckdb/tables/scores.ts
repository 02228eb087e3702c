import { SCORES_FOLDER } from '../../../jobs/texts/batch/batch.ts';
import { partLines } from '../../../snapshot/changes/part-lines.ts';
import { idOfSegment } from '../../../store/id-in-key.ts';
import type { ListedObject } from '../../../store/store.ts';
import { StoredObjectError } from '../../../store/stored-json.ts';
import { storedTables } from '../../stored-tables.ts';
import { orReport } from '../or-report.ts';
import { duckDbColumns } from '../record-columns.ts';
import { type TextRow, writeRows } from '../row-file.ts';
import type { Session } from '../session.ts';
import type { Piece, Table } from '../table.ts';
import { textRowOf } from '../text-row.ts';

const { columns } = storedTables.scores;
const { batch: _, ...ownColumns } = columns;

/** The texts of all batches, a piece for each batch. */
export const scoresTable = (session: Session): Table => ({
  name: 'scores',
  about: storedTables.scores.description,
  columns: duckDbColumns(ownColumns),
  pieceColumns: ['batch'],
  pieces: () => Array.fromAsync(batchPieces(session)),
});

async function* batchPieces(session: Session): AsyncGenerator<Piece> {
  for await (const folder of session.store.folders(SCORES_FOLDER, session)) {
    const batch = idOfSegment(folder.slice(SCORES_FOLDER.length));
    // The cache of scores lies beside the batches.
    if (batch === undefined || batch.startsWith('_')) continue;
    yield { values: [batch], prepare: () => prepareBatch(session, `${folder}/part-`) };
  }
}

async function prepareBatch(session: Session, prefix: string) {
  const parts: ListedObject[] = await Array.fromAsync(session.store.list(prefix, session));
  const bytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    bytes,
    copiedBytes: bytes * UNPACKED,
    load: async () => [await writeRows(session.folder, rowsOf(session, parts))],
  };
}

/** How many times larger a part's rows are than the part, about. */
const UNPACKED = 8;

async function* rowsOf(session: Session, parts: readonly ListedObject[]): AsyncGenerator<TextRow> {
  for (const { key } of parts) yield* (await orReport(session, rowsOfPart(session, key))) ?? [];
}

/** A part has at most a hundred rows. */
async function rowsOfPart({ store, signal }: Session, key: string): Promise<readonly TextRow[]> {
  const chunk = /\/part-(\d+)-[^/]+$/.exec(key)?.[1];
  const lines = (await Array.fromAsync(partLines({ store, part: { key }, signal }))).flat();
  return lines.map((line) => {
    try {
      const row = textRowOf(Buffer.from(line), ownColumns);
      return { ...row, chunk: row['chunk'] ?? (chunk === undefined ? null : String(Number(chunk))) };
    } catch (cause) {
      throw new StoredObjectError('invalid', `${key}: expected rows, got something else`, { cause });
    }
  });
}

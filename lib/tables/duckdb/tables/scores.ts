import { findRows } from '../../../jobs/results/part-rows.ts';
import { SCORES_FOLDER } from '../../../jobs/texts/batch/batch.ts';
import { idOfSegment } from '../../../store/id-in-key.ts';
import type { ListedObject } from '../../../store/store.ts';
import { missingObject, StoredObjectError } from '../../../store/stored-json.ts';
import { storedScores } from '../../make/make-scores.ts';
import { type BatchParts, partsOfBatch } from '../../make/score-parts.ts';
import { storedTables } from '../../stored-tables.ts';
import { orReport } from '../or-report.ts';
import { duckDbColumns } from '../record-columns.ts';
import type { TextRow } from '../row-file.ts';
import type { Session } from '../session.ts';
import { prepareStored, type StoredFile } from '../stored-files.ts';
import type { Piece, Table } from '../table.ts';
import { jsonColumnsOf, textRowOf } from '../text-row.ts';

const { columns } = storedTables.scores;
const { batch: _, ...ownColumns } = columns;

/** The texts of all batches, a piece for each batch. */
export const scoresTable = (session: Session): Table => ({
  name: 'stored_scores',
  columns: duckDbColumns(ownColumns),
  pieceColumns: ['batch'],
  pieces: () => Array.fromAsync(batchPieces(session)),
});

async function* batchPieces(session: Session): AsyncGenerator<Piece> {
  for await (const folder of session.store.folders(SCORES_FOLDER, session)) {
    const batch = idOfSegment(folder.slice(SCORES_FOLDER.length));
    // The cache of scores lies beside the batches.
    if (batch === undefined || batch.startsWith('_')) continue;
    yield { values: [batch], prepare: () => prepareBatch(session, folder.slice(SCORES_FOLDER.length)) };
  }
}

async function prepareBatch(session: Session, segment: string) {
  const folder = `${SCORES_FOLDER}${segment}/`;
  const listed: ListedObject[] = await Array.fromAsync(session.store.list(`${folder}part-`, session));
  const parts = listed.length < LEAST_PARTS ? undefined : await allParts(session, folder, listed.length);
  const sizes = new Map(listed.map(({ key, sizeBytes }) => [key, sizeBytes]));
  const fileOf = (
    items: readonly { readonly key: string }[],
    parquet?: StoredFile<unknown>['parquet'],
  ): StoredFile<{ readonly key: string }> => ({
    items,
    bytes: items.reduce((sum, { key }) => sum + (sizes.get(key) ?? 0), 0),
    parquet,
  });
  return prepareStored(session, {
    files:
      parts === undefined
        ? [fileOf(listed)]
        : (await storedScores(segment, parts, session)).map(({ file, parquet }) =>
            fileOf(file.parts, parquet),
          ),
    rowsOf: (items) => rowsOf(session, items),
    unpacked: UNPACKED,
    jsonColumns: jsonColumnsOf(ownColumns),
  });
}

/** Fewer are read at once as fast as the Parquet of them is found. */
const LEAST_PARTS = 8;

/** The parts of a finished batch, if these are all that there are: what is being scored again has others beside. */
async function allParts({ store }: Session, folder: string, count: number): Promise<BatchParts | undefined> {
  try {
    const parts = await partsOfBatch(store, folder);
    return parts?.parts.length === count ? parts : undefined;
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

/** How many times larger a part's rows are than the part, about. */
const UNPACKED = 8;

async function* rowsOf(
  session: Session,
  parts: readonly { readonly key: string }[],
): AsyncGenerator<TextRow> {
  for (const { key } of parts) yield* (await orReport(session, rowsOfPart(session, key))) ?? [];
}

/** A part has at most a hundred rows. */
async function rowsOfPart({ store, signal }: Session, key: string): Promise<readonly TextRow[]> {
  const chunk = /\/part-(\d+)-[^/]+$/.exec(key)?.[1];
  const lines = await findRows(store, key, signal);
  if (lines === undefined) throw missingObject(store, key, 'a part');
  return lines.map((line) => {
    try {
      const row = textRowOf(line, ownColumns);
      return { ...row, chunk: row['chunk'] ?? (chunk === undefined ? null : String(Number(chunk))) };
    } catch (cause) {
      throw new StoredObjectError('invalid', `${key}: expected rows, got something else`, { cause });
    }
  });
}

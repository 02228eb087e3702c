import { sentBytes } from '../../queue/queue.ts';
import { MOST_TEXT_BYTES, MOST_TEXTS } from '../../types/score/message.ts';
import type { InputFound } from '../rows/read-rows.ts';
import type { BadRow, Row } from '../rows/row.ts';
import type { ScoreRequest } from './batch.ts';

export type { BadRow };

/** A row of a source: one that can be scored, or one that cannot, with the reason. */
export type SourceRow = Row | BadRow;

/** A bulk request: rows whose texts are to be scored. */
export type BatchRequest = {
  readonly batch: string;
  readonly request: ScoreRequest;
  /** Opens the rows from the beginning; may be called more than once, and must give the same rows each time. */
  readonly rows: () => AsyncIterable<SourceRow>;
  /** What the source was found to be, once its rows were read. */
  readonly input?: (() => InputFound | undefined) | undefined;
  readonly host: string;
};

/** The rows that one job scores, in order. `index` counts from 0. */
export type Chunk = { readonly index: number; readonly rows: readonly SourceRow[] };

export const isBad = (row: SourceRow): row is BadRow => 'fault' in row;

/**
 * Cuts rows into chunks of at most 100 rows and 200 KB of texts as they are sent: as JSON, with the characters escaped that
 * SQS refuses. A text that is larger on its own, or blank, becomes a bad row. The boundaries depend on the rows alone, and on
 * those of before: `sizeOf` says how many rows of a chunk are in it, if it ended with fewer when the rows were cut first.
 */
export async function* cutChunks(
  rows: AsyncIterable<SourceRow>,
  sizeOf = async (chunk: Chunk): Promise<number> => chunk.rows.length,
): AsyncGenerator<Chunk> {
  let index = 0;
  let held: Measured[] = [];
  const bytesOf = () => held.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let heldBytes = 0;
  const cut = async (): Promise<Chunk> => {
    const all = held.map(({ row }) => row);
    const size = await sizeOf({ index, rows: all });
    held = held.slice(size);
    heldBytes = bytesOf();
    index += 1;
    return { index: index - 1, rows: all.slice(0, size) };
  };
  for await (const given of rows) {
    const next = measured(given);
    while (held.length === MOST_TEXTS || heldBytes + next.sizeBytes > MOST_TEXT_BYTES) yield await cut();
    held.push(next);
    heldBytes += next.sizeBytes;
  }
  while (held.length > 0) yield await cut();
}

type Measured = ReturnType<typeof measured>;

/** A row as chunks contain it, and the bytes of its text there: one that no chunk can score is a bad row. */
export function measured(row: SourceRow): { readonly row: SourceRow; readonly sizeBytes: number } {
  if (isBad(row)) return { row, sizeBytes: 0 };
  const { line, id, text, columns } = row;
  const bad = (fault: string) => {
    const own = Object.keys(columns).length === 0 ? {} : { columns };
    return { row: { line, fault, id, ...own }, sizeBytes: 0 };
  };
  if (!/\S/.test(text)) return bad('the text is blank');
  const sizeBytes = sentBytes(JSON.stringify(text));
  if (sizeBytes <= MOST_TEXT_BYTES) return { row, sizeBytes };
  return bad(`the text takes ${sizeBytes} bytes as JSON, more than ${MOST_TEXT_BYTES}`);
}

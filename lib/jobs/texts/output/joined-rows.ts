import { readAhead } from '../../../snapshot/sources/read-ahead.ts';
import { missingObject, type Store } from '../../../store/index.ts';
import type { Summary } from '../batch/finish-batch.ts';
import { parsePart, type ScoredRow } from '../batch/part.ts';
import { textHashOf } from '../cache/cache-row.ts';
import type { RowOfSource } from '../rows/read-rows.ts';

/** A row of a source with its score; undefined if it was left out of the batch, since it has no text. */
export type JoinedRow = RowOfSource & { readonly score: ScoredRow | undefined };

/** The rows of a source are not those that were scored: the source has changed. */
class SourceChangedError extends Error {
  override readonly name = 'SourceChangedError';

  constructor(line: number, got: string) {
    super(`line ${line}: expected the row that was scored, got ${got}: the file has changed since then`);
  }
}

/**
 * The rows of a source with their scores, which the parts of its batch have in the same order. They are joined by their
 * place, and each pair is checked: line, id, and text. Memory holds a few parts. Throws `SourceChangedError`.
 */
export async function* joinedRows(
  rows: AsyncIterable<RowOfSource>,
  scores: AsyncIterable<ScoredRow>,
  { skipEmpty = false }: { readonly skipEmpty?: boolean | undefined },
): AsyncGenerator<JoinedRow> {
  const left = scores[Symbol.asyncIterator]();
  for await (const each of rows) {
    const { row } = each;
    if (skipEmpty && 'fault' in row && row.isEmpty) {
      yield { ...each, score: undefined };
      continue;
    }
    const next = await left.next();
    if (next.done) throw new SourceChangedError(row.line, 'a row after the last one');
    checkPair(row, next.value);
    yield { ...each, score: next.value };
  }
  const more = await left.next();
  if (!more.done) throw new SourceChangedError(more.value.line, 'no such row');
}

function checkPair(row: RowOfSource['row'], { line, id, textHash }: ScoredRow): void {
  if (row.line !== line) throw new SourceChangedError(line, `one on line ${row.line}`);
  if (row.id !== undefined && id !== undefined && row.id !== id)
    throw new SourceChangedError(line, 'another id');
  if ('text' in row && textHash !== undefined && textHashOf(row.text) !== textHash)
    throw new SourceChangedError(line, 'another text');
}

/** How many parts are read ahead. */
const AHEAD = 8;

/** The rows of all parts of a batch, in the order of its source. Throws `StoredObjectError` for one that is missing. */
export async function* scoresOf(
  { parts }: Pick<Summary, 'parts'>,
  store: Pick<Store, 'get' | 'location'>,
  signal?: AbortSignal,
): AsyncGenerator<ScoredRow> {
  const read = async (key: string, aborted: AbortSignal) => {
    const stored = await store.get(key, { signal: aborted });
    if (stored === undefined) throw missingObject(store, key, 'a part of the scores');
    return parsePart(key, stored.body);
  };
  const items = parts.map(({ key }) => key);
  for await (const rows of readAhead({ items, read, concurrency: AHEAD, signal })) yield* rows;
}

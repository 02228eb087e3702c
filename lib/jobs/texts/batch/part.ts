import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { messageOf, parseJson, printJson } from '../../../base/index.ts';
import type { Store } from '../../../store/index.ts';
import { notRows, rowsOfPart } from '../../results/part-rows.ts';
import { textHashOf } from '../cache/cache-row.ts';
import { type ChunkId, partPrefix } from './batch.ts';
import type { StagedRow } from './staged-chunk.ts';

/** One line of a part: the outcome of one row. Names are written in this order. */
export type ScoredRow = {
  /** The user's own id. */
  readonly id?: string | undefined;
  /** The line of the row in its file. */
  readonly line: number;
  /** The requested columns, if any. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** The hash that the text is forgotten by. */
  readonly textHash?: string;
  readonly topicSentiments?: unknown;
  readonly sentiment?: unknown;
  readonly model?: unknown;
  /** Why there is no result. */
  readonly error?: string;
  readonly erased?: true;
};

/** A row with its result, which is undefined if its job did not score it. */
export function scoredRow(row: StagedRow, scored: Score | undefined): ScoredRow {
  const { line } = row;
  if ('fault' in row) return { id: row.id, line, columns: row.columns, error: row.fault };
  const { id } = row;
  if ('erased' in row) return { id, line, erased: true };
  const columns = Object.keys(row.columns).length === 0 ? undefined : row.columns;
  const about = { id, line, columns, textHash: textHashOf(row.text) };
  if (scored?.result === undefined)
    return { ...about, error: messageOf(scored?.error ?? 'the text was not scored') };
  const { topicSentiments, sentiment, model } = scored.result;
  return { ...about, topicSentiments, sentiment, model };
}

/** What was found out about a row's text. */
export type Score = {
  readonly result?: Pick<ScoredRow, 'topicSentiments' | 'sentiment' | 'model'> | undefined;
  readonly error?: string | undefined;
};

/**
 * A part with these rows, each with the batch and the chunk that it belongs to: a table over all batches has no other
 * place for them. The same rows give the same bytes, and so the same key.
 */
export function printPart(chunkId: ChunkId, rows: readonly ScoredRow[]): Part {
  const { batch, chunk } = chunkId;
  const body = gzipSync(rows.map((row) => `${printJson({ ...row, batch, chunk })}\n`).join(''));
  // zlib writes the operating system here, the only reason that the bytes could differ.
  body[OPERATING_SYSTEM_AT] = UNKNOWN_SYSTEM;
  const sha256 = createHash('sha256').update(body).digest('hex');
  return { key: `${partPrefix(chunkId)}${sha256.slice(0, 12)}.ndjson.gz`, body };
}

export type Part = { readonly key: string; readonly body: Buffer };

/** In the header of gzip (RFC 1952, 2.3). */
const OPERATING_SYSTEM_AT = 9;
const UNKNOWN_SYSTEM = 255;

/** The rows of a part that `printPart` made. Throws `StoredObjectError` for anything else, however large it unpacks. */
export function parsePart(key: string, body: Buffer): readonly ScoredRow[] {
  const rows = rowsOfPart(key, body);
  try {
    return rows.map((row) => withoutChunk(parseJson(row.toString()) as ScoredRow & ChunkId));
  } catch {
    throw notRows(key, body);
  }
}

const withoutChunk = ({ batch, chunk, ...row }: ScoredRow & ChunkId): ScoredRow => row;

/** What is left to use of the part of a chunk that ended and was reopened. */
export type PriorPart = {
  /** The row of this line, if it was scored. */
  readonly ofLine: (line: number) => ScoredRow | undefined;
  /** A row with this text that was scored. */
  readonly ofText: (textHash: string) => ScoredRow | undefined;
};

const NONE: PriorPart = { ofLine: () => undefined, ofText: () => undefined };

/**
 * The scored rows of an open chunk's part: its results are paid for, whether or not the cache still has them. A chunk
 * has a part while it is open only if it was reopened; if that part is gone, its rows are scored again.
 */
export async function readPriorPart(
  { part }: { readonly part?: string | undefined },
  store: Pick<Store, 'get'>,
): Promise<PriorPart> {
  if (part === undefined) return NONE;
  const stored = await store.get(part);
  if (stored === undefined) return NONE;
  const scored = parsePart(part, stored.body).filter(
    ({ error, erased }) => error === undefined && erased !== true,
  );
  const byLine = new Map(scored.map((row) => [row.line, row]));
  const byText = new Map(scored.map((row) => [row.textHash, row]));
  return { ofLine: (line) => byLine.get(line), ofText: (textHash) => byText.get(textHash) };
}

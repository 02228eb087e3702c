import * as z from 'zod/mini';
import { canonicalJson, parseOwnJson } from '../../../base/index.ts';
import {
  findStored,
  MOST_LIST_BYTES,
  printStored,
  type Store,
  type StoredObject,
  updateObject,
} from '../../../store/index.ts';
import { type BatchStorage, type ChunkId, summaryKey } from './batch.ts';
import { countsSchema, sumOf } from './chunk-counts.ts';
import { badRowSchema } from './chunk-objects.ts';
import {
  type BatchHeader,
  chunkRows,
  type EndedChunkRow,
  inputSchema,
  isEnded,
  readChunkRows,
  readHeader,
} from './chunk-row.ts';

/** How many bad rows a summary lists; all of them are in the parts. */
const MOST_BAD_ROWS = 1_000;

/** How many chunks are looked at, the last ones, before all are listed. */
const PROBES = 8;

const summarySchema = z.object({
  version: z.literal(1),
  batch: z.string(),
  chunks: z.number(),
  ...countsSchema.shape,
  /** Absent if none was. */
  cancelled: z.optional(z.number()),
  /** The first 1,000, in source order. Of a row with long values, the part alone has its id and columns. */
  badRows: z.array(badRowSchema),
  parts: z.array(z.object({ key: z.string(), rows: z.number() })),
  /** What the source of the texts was found to be; absent if nothing was said of it. */
  input: z.optional(inputSchema),
});

/** `_summary.json`: the outcome of a batch. It is the same whichever worker writes it, so it contains no time. */
export type Summary = z.infer<typeof summarySchema>;

/** The summary of a batch that is done; undefined if there is none. Throws `StoredObjectError` if it is none. */
export const findSummary = async (store: Pick<Store, 'get'>, batch: string): Promise<Summary | undefined> =>
  (await findStored(store, summaryKey(batch), summarySchema, MOST_LIST_BYTES))?.value;

/**
 * Writes the summary once the header exists and all chunks have ended; undefined until then. It looks again after it wrote:
 * a text may have been forgotten meanwhile. Each write is over the summary that was there before the chunks were read, so
 * that one which arrives late replaces no newer one.
 */
export async function finishBatch(batch: string, options: BatchStorage): Promise<Summary | undefined> {
  const { store } = options;
  const key = summaryKey(batch);
  const header = await endedHeader(batch, options);
  if (header === undefined) return undefined;
  let summary: Summary | undefined;
  const decide = async (stored: StoredObject | undefined) => {
    const ended = await readEnded(batch, options);
    summary = undefined;
    if (ended === undefined || ended.chunks.length !== header.chunks) return undefined;
    summary = summarize(batch, ended, header.input);
    const body = printStored(summary);
    return stored?.body.equals(body) ? undefined : body;
  };
  while (await updateObject(store, key, decide));
  return summary;
}

/** The header of a batch whose last chunks have ended. */
async function endedHeader(batch: string, options: BatchStorage): Promise<BatchHeader | undefined> {
  const header = await readHeader(batch, options);
  if (header === undefined) return undefined;
  // Jobs end roughly in order: if any chunk is open, one of the last most likely is, so there is no need to list all.
  const first = Math.max(0, header.chunks - PROBES);
  const last = Array.from({ length: header.chunks - first }, (_, index) => ({ batch, chunk: first + index }));
  const probed = await readChunkRows(last, options);
  return probed.every((stored) => stored && isEnded(stored.row)) ? header : undefined;
}

type Ended = Pick<Summary, 'badRows'> & {
  readonly chunks: readonly (Pick<EndedChunkRow, 'part' | 'counts'> & Pick<ChunkId, 'chunk'>)[];
};

/** All chunks in order, with the bad rows that are listed; undefined if one is still open. */
async function readEnded(batch: string, options: BatchStorage): Promise<Ended | undefined> {
  const chunks: Ended['chunks'][number][] = [];
  let badRows: Summary['badRows'] = [];
  for await (const { chunkId, row } of chunkRows(batch, options)) {
    if (!isEnded(row)) return undefined;
    const { badRows: more, part, counts } = row;
    chunks.push({ chunk: chunkId.chunk, part, counts });
    if (more.length > 0)
      badRows = [...badRows, ...more].sort((a, b) => a.line - b.line).slice(0, MOST_BAD_ROWS);
  }
  return { chunks: chunks.sort((a, b) => a.chunk - b.chunk), badRows };
}

function summarize(batch: string, { chunks, badRows }: Ended, input: Summary['input']): Summary {
  const { cancelled, sentiments, ...counts } = sumOf(chunks.map((chunk) => chunk.counts));
  return {
    version: 1,
    batch,
    chunks: chunks.length,
    ...counts,
    // With their names in order.
    sentiments: parseOwnJson(canonicalJson(sentiments)) as Summary['sentiments'],
    cancelled: cancelled === 0 ? undefined : cancelled,
    badRows,
    parts: chunks.map(({ part, counts: { rows } }) => ({ key: part, rows })),
    input,
  };
}

import { printStored } from '../../../store/index.ts';
import type { InputFound } from '../rows/input.ts';
import { type BatchStorage, batchPartition, HEADER_SORT, summaryKey } from './batch.ts';
import { type BatchHeader, readHeader } from './batch-header.ts';
import {
  type ChunkCounts,
  type ChunkRow,
  type EndedChunkRow,
  isEnded,
  parseChunkRow,
  readChunkRow,
} from './chunk-row.ts';

/** How many bad rows a summary lists; all of them are in the parts. */
const MOST_BAD_ROWS = 1_000;

/** How many chunks are checked one by one, from the last, before all are listed. */
const PROBES = 8;

/** `_summary.json`: the outcome of a batch. It is the same whichever worker writes it, so it contains no time. */
export type Summary = {
  readonly version: 1;
  readonly batch: string;
  readonly chunks: number;
} & Omit<ChunkCounts, 'sentiments'> & {
    /** How often each sentiment occurs, in lower case: for texts as a whole, and by topic. */
    readonly sentiments: {
      readonly overall: Readonly<Record<string, number>>;
      readonly topics: Readonly<Record<string, Readonly<Record<string, number>>>>;
    };
    /** The first 1,000, in source order. Of a row with long values, the part alone has its id and columns. */
    readonly badRows: ChunkRow['badRows'];
    readonly parts: readonly { readonly key: string; readonly rows: number }[];
    /** What the source of the texts was found to be; absent if nothing was said of it. */
    readonly input?: InputFound;
  };

/**
 * Writes the summary of a batch once its header exists and all of its chunks have ended; undefined until then. It is
 * called after each end of a chunk and after the header is written, so the last of these calls sees everything. It looks
 * again after it wrote: if a text was forgotten meanwhile, its summary may have replaced the one without the text.
 */
export async function finishBatch(batch: string, options: BatchStorage): Promise<Summary | undefined> {
  for (let written: Buffer | undefined; ; ) {
    const summary = await readSummary(batch, options);
    if (summary === undefined) return undefined;
    const body = printStored(summary);
    if (written?.equals(body)) return summary;
    await options.store.put(summaryKey(batch), body);
    written = body;
  }
}

async function readSummary(batch: string, options: BatchStorage): Promise<Summary | undefined> {
  const header = await readHeader(batch, options);
  if (header === undefined || !(await lastHaveEnded(batch, header, options))) return undefined;
  const ended = await readEnded(batch, options);
  if (ended === undefined || ended.chunks.length !== header.chunks) return undefined;
  return summarize(batch, ended, header.input);
}

/** Jobs end roughly in order: if any chunk is open, one of the last most likely is, so there is no need to list all. */
async function lastHaveEnded(
  batch: string,
  { chunks }: BatchHeader,
  options: BatchStorage,
): Promise<boolean> {
  for (let chunk = chunks - 1; chunk >= Math.max(0, chunks - PROBES); chunk -= 1) {
    const stored = await readChunkRow({ batch, chunk }, options);
    if (stored === undefined || !isEnded(stored.row)) return false;
  }
  return true;
}

/** The rows of a batch, without their bad rows: those are gathered separately, and cut to the limit meanwhile. */
type Ended = {
  readonly chunks: readonly Omit<EndedChunkRow, 'badRows'>[];
  readonly badRows: Summary['badRows'];
};

/** All chunks in order, or undefined if one is still open. */
async function readEnded(batch: string, { table }: BatchStorage): Promise<Ended | undefined> {
  const chunks: (readonly [number, Omit<EndedChunkRow, 'badRows'>])[] = [];
  let badRows: Summary['badRows'] = [];
  for await (const stored of table.list(batchPartition(batch))) {
    if (stored.key.sort === HEADER_SORT) continue;
    const { row } = parseChunkRow(stored);
    if (!isEnded(row)) return undefined;
    const { badRows: more, ...rest } = row;
    chunks.push([Number(stored.key.sort.replace('chunk-', '')), rest]);
    // Beyond 99,999 chunks the table does not list them in source order.
    if (more.length > 0)
      badRows = [...badRows, ...more].sort((a, b) => a.line - b.line).slice(0, MOST_BAD_ROWS);
  }
  return { chunks: chunks.sort(([a], [b]) => a - b).map(([, row]) => row), badRows };
}

function summarize(batch: string, { chunks, badRows }: Ended, input: InputFound | undefined): Summary {
  const total = (count: (counts: ChunkCounts) => number) =>
    chunks.reduce((sum, { counts }) => sum + count(counts), 0);
  const cancelled = total((counts) => counts.cancelled ?? 0);
  return {
    version: 1,
    batch,
    chunks: chunks.length,
    rows: total(({ rows }) => rows),
    scored: total(({ scored }) => scored),
    failed: total(({ failed }) => failed),
    ...(cancelled === 0 ? {} : { cancelled }),
    bad: total(({ bad }) => bad),
    erased: total(({ erased }) => erased),
    cached: total(({ cached }) => cached),
    calls: total(({ calls }) => calls),
    paidAgain: total(({ paidAgain }) => paidAgain),
    tokens: {
      input: total(({ tokens }) => tokens.input),
      output: total(({ tokens }) => tokens.output),
      total: total(({ tokens }) => tokens.total),
      reasoning: total(({ tokens }) => tokens.reasoning),
    },
    sentiments: sumSentiments(chunks),
    badRows,
    parts: chunks.map(({ part, counts }) => ({ key: part, rows: counts.rows })),
    ...(input === undefined ? {} : { input }),
  };
}

function sumSentiments(chunks: Ended['chunks']): Summary['sentiments'] {
  const overall = new Map<string, number>();
  const topics = new Map<string, Map<string, number>>();
  for (const [topic, sentiment, rows] of chunks.flatMap(({ counts }) => counts.sentiments)) {
    const of = topic === null ? overall : (topics.get(topic) ?? new Map<string, number>());
    if (topic !== null) topics.set(topic, of);
    of.set(sentiment, (of.get(sentiment) ?? 0) + rows);
  }
  const byTopic = [...topics].map(([topic, counts]) => [topic, inOrder(counts)] as const);
  return { overall: inOrder(overall), topics: inOrder(new Map(byTopic)) };
}

/** The members of a map as an object, sorted by name. */
const inOrder = <T>(members: ReadonlyMap<string, T>): Readonly<Record<string, T>> =>
  Object.fromEntries([...members].sort(([a], [b]) => (a < b ? -1 : 1)));

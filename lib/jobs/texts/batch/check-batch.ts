import { preview } from '../../../base/index.ts';
import { createSeenTexts, printJson } from '../../../base/json/index.ts';
import { sentBytes } from '../../queue/queue.ts';
import { isBatchName, MAX_BATCH_NAME_LENGTH, MAX_TEXT_BYTES, MAX_TEXTS } from '../../types/score/message.ts';
import type { ScoreCache } from '../cache/score-cache.ts';
import type { BadRow, RecognizedInput, Row } from '../rows/read-rows.ts';
import { MAX_LISTED_BAD_ROWS, type ScoreRequest } from './batch.ts';

const MAX_DAYS = 10;
const DAY_SECONDS = 24 * 3_600;

/** Maximum bytes of a request in each message of its batch; the rest of the message is for texts. */
const MAX_REQUEST_BYTES = 48 * 1_024;

/** Why a batch is refused. Nothing was sent. */
export type Refusal = {
  readonly kind: 'refused';
  readonly reasons: readonly string[];
  /** What the batch needs; undefined if the request itself is invalid. */
  readonly preview: Preview | undefined;
};

type CheckOptions = {
  readonly cache: ScoreCache;
  /** The maximum requests a second. */
  readonly rate: number;
  /** The maximum calls: a batch that needs more is refused. Default: only the limit of ten days applies. */
  readonly maxCalls?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Checks whether a batch may begin. Without `maxCalls`, texts are looked up in the cache only if the rate may be too
 * low for all rows. `rows`: the number of rows in the input, including bad rows.
 */
export async function checkBatch(
  bulkRequest: BatchRequest,
  options: CheckOptions,
): Promise<{ readonly kind: 'accepted'; readonly rows: number } | Refusal> {
  const faults = faultsOf(bulkRequest);
  if (faults.length > 0) return { kind: 'refused', reasons: faults, preview: undefined };
  const { rate, maxCalls, signal } = options;
  if (maxCalls === undefined) {
    let rows = 0;
    for await (const _ of bulkRequest.rows()) {
      signal?.throwIfAborted();
      rows += 1;
    }
    if (rows <= maxCallsAt(rate)) return { kind: 'accepted', rows };
  }
  const found = await previewBatch(bulkRequest, options);
  const reasons = refusals(found, { rate, maxCalls });
  return reasons.length === 0
    ? { kind: 'accepted', rows: found.rows }
    : { kind: 'refused', reasons, preview: found };
}

const maxCallsAt = (rate: number) => rate * MAX_DAYS * DAY_SECONDS;

/** The reasons to refuse a batch of this size, each with its numbers; empty if it may be sent. */
export function refusals(
  { rows, texts, cached, calls }: Preview,
  { rate, maxCalls }: Pick<CheckOptions, 'rate' | 'maxCalls'>,
): readonly string[] {
  const counted = `${rows} rows have ${texts} distinct texts, of which ${cached} are cached: ${calls} calls`;
  const days = Math.ceil((10 * calls) / rate / DAY_SECONDS) / 10;
  return [
    ...(maxCalls !== undefined && calls > maxCalls ? [`${counted}, over the limit of ${maxCalls}`] : []),
    ...(calls > maxCallsAt(rate)
      ? [`${counted}, which take ${days} days at ${rate} a second, over the limit of ${MAX_DAYS} days`]
      : []),
  ];
}

function faultsOf({ batch, request }: BatchRequest): readonly string[] {
  const bytes = sentBytes(printJson(request));
  return [
    ...(isBatchName(batch)
      ? []
      : [
          `batch: expected 1 to ${MAX_BATCH_NAME_LENGTH} characters from A-Z a-z 0-9 . _ : -, got ${preview(batch)}`,
        ]),
    ...(bytes <= MAX_REQUEST_BYTES
      ? []
      : [`request: expected at most ${MAX_REQUEST_BYTES} bytes as JSON, got ${bytes}`]),
  ];
}

/** What a batch needs, known before anything is sent. */
export type Preview = {
  readonly rows: number;
  readonly badRows: number;
  readonly bad: readonly BadRow[];
  /** The number of distinct texts. */
  readonly texts: number;
  /** The number of texts whose result is in the cache. */
  readonly cached: number;
  readonly calls: number;
  readonly seconds: number;
};

/** How many texts are looked up in the cache together. */
const LOOKUP_SIZE = 100;

/** Counts what a batch needs. Reads the rows once; each distinct text takes 11 to 22 bytes of memory. */
export async function previewBatch(
  bulkRequest: Pick<BatchRequest, 'rows' | 'request'>,
  { cache, rate, signal }: CheckOptions,
): Promise<Preview> {
  const seen = createSeenTexts();
  const bad: BadRow[] = [];
  let rows = 0;
  let badRows = 0;
  let cached = 0;
  let unknown: string[] = [];
  const lookUp = async () => {
    const lookups = await cache.lookup(unknown.map((text) => ({ ...bulkRequest.request, text })));
    cached += lookups.filter(({ kind }) => kind === 'scored').length;
    unknown = [];
  };
  for await (const read of bulkRequest.rows()) {
    signal?.throwIfAborted();
    const { row } = measured(read);
    rows += 1;
    if (isBad(row)) {
      badRows += 1;
      if (bad.length < MAX_LISTED_BAD_ROWS) bad.push(row);
      // JSON distinguishes halves of surrogate pairs; UTF-8 does not.
    } else if (seen.add(JSON.stringify(row.text))) unknown.push(row.text);
    if (unknown.length === LOOKUP_SIZE) await lookUp();
  }
  await lookUp();
  const texts = seen.size();
  const calls = texts - cached;
  return { rows, badRows, bad, texts, cached, calls, seconds: Math.ceil(calls / rate) };
}

export type { BadRow };

/** A row of an input: it can be scored, or it is a bad row with the reason. */
type InputRow = Row | BadRow;

/** A bulk request: the rows whose texts are to be scored. */
export type BatchRequest = {
  readonly batch: string;
  readonly request: ScoreRequest;
  /** Reads the rows from the beginning. It may be called more than once, and must return the same rows each time. */
  readonly rows: () => AsyncIterable<InputRow>;
  /** How the input was recognized; available after its rows have been read. */
  readonly input?: (() => RecognizedInput | undefined) | undefined;
  readonly host: string;
};

/** The rows that one job scores, in order. `index` is the chunk's number, from 0. */
export type Chunk = { readonly index: number; readonly rows: readonly InputRow[] };

/** Whether a row cannot be scored. */
export const isBad = (row: InputRow): row is BadRow => 'fault' in row;

/**
 * Divides rows into chunks of at most 100 rows and 200 KB of texts, measured as they are sent: as JSON, with the
 * characters escaped that SQS refuses. A row whose text is blank, or by itself larger than 200 KB, becomes a bad row.
 * Chunks end at the same rows each time: `sizeOf` returns how many rows a chunk had when the batch was first split,
 * which may be fewer.
 */
export async function* cutChunks(
  rows: AsyncIterable<InputRow>,
  sizeOf = async (chunk: Chunk): Promise<number> => chunk.rows.length,
): AsyncGenerator<Chunk> {
  let index = 0;
  let pending: ReturnType<typeof measured>[] = [];
  const bytesOf = () => pending.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let pendingBytes = 0;
  const cut = async (): Promise<Chunk> => {
    const all = pending.map(({ row }) => row);
    const size = await sizeOf({ index, rows: all });
    pending = pending.slice(size);
    pendingBytes = bytesOf();
    index += 1;
    return { index: index - 1, rows: all.slice(0, size) };
  };
  for await (const row of rows) {
    const next = measured(row);
    while (pending.length === MAX_TEXTS || pendingBytes + next.sizeBytes > MAX_TEXT_BYTES) yield await cut();
    pending.push(next);
    pendingBytes += next.sizeBytes;
  }
  while (pending.length > 0) yield await cut();
}

/** A row as it is put into a chunk, and the size of its text there. A row that cannot be scored becomes a bad row. */
function measured(row: InputRow): { readonly row: InputRow; readonly sizeBytes: number } {
  if (isBad(row)) return { row, sizeBytes: 0 };
  const { line, id, text, columns } = row;
  const bad = (fault: string) => {
    const own = Object.keys(columns).length === 0 ? {} : { columns };
    return { row: { line, fault, id, ...own }, sizeBytes: 0 };
  };
  if (!/\S/.test(text)) return bad('the text is blank');
  const sizeBytes = sentBytes(JSON.stringify(text));
  if (sizeBytes <= MAX_TEXT_BYTES) return { row, sizeBytes };
  return bad(`the text takes ${sizeBytes} bytes as JSON, more than ${MAX_TEXT_BYTES}`);
}

import { createHash, hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { messageOf, recordOf } from '../../../base/index.ts';
import { parseJson, printJson } from '../../../base/json/index.ts';
import { lowerCase, type outcomes, type RowCosts } from '../../../model/rules/index.ts';
import {
  findStored,
  MAX_LIST_BYTES,
  missingObject,
  parseStored,
  type Store,
  StoredObjectError,
} from '../../../store/index.ts';
import { CANCELLED } from '../../ledger/job-row.ts';
import type { ScoreJob } from '../../types/score/message.ts';
import { textHashOf } from '../cache/score-cache.ts';
import { type ChunkId, chunkJobId, partPrefix, type ScoreRequest, stagedKey } from './batch.ts';

/* The two objects of a chunk: the staged rows, which wait for their job, and the part with the results. */

const line = z.number();

/** A row that cannot be scored, and why. */
export const badRowSchema = z.strictObject({
  line,
  fault: z.string(),
  id: z.optional(z.string()),
  columns: z.optional(recordOf(z.string())),
});

const stagedRowSchema = z.union([
  badRowSchema,
  z.strictObject({ line, id: z.string(), erased: z.literal(true) }),
  z.strictObject({ line, id: z.string(), text: z.string(), columns: recordOf(z.string()) }),
]);

type StagedRow = z.infer<typeof stagedRowSchema>;

/** What remains of a row whose text was forgotten. A bad row has no text, and stays unchanged. */
export const erasedRow = (row: StagedRow): StagedRow =>
  'text' in row ? { line: row.line, id: row.id, erased: true } : row;

const stagedSchema = z.strictObject({
  version: z.literal(1),
  host: z.string(),
  request: z.custom<ScoreRequest>((value) => typeof value === 'object' && value !== null),
  rows: z.array(stagedRowSchema),
});

/**
 * A chunk as it was staged when its batch was split, with all data that its part needs after its texts have been
 * scored.
 */
export type StagedChunk = z.infer<typeof stagedSchema>;

/** Prints a staged chunk as JSON, with its hash in hex. */
export function printStaged(staged: StagedChunk): { readonly body: Buffer; readonly sha256: string } {
  const body = Buffer.from(printJson(staged));
  return { body, sha256: sha256(body) };
}

const sha256 = (body: Buffer | string) => createHash('sha256').update(body).digest('hex');

/** Parses a staged chunk. Throws `StoredObjectError` if it is invalid. */
export const parseStaged = (key: string, body: Buffer): StagedChunk =>
  parseStored(key, body, stagedSchema, MAX_LIST_BYTES);

/** Reads a staged chunk; undefined if it has expired. Throws `StoredObjectError` if it is invalid. */
export const findStaged = async (chunkId: ChunkId, store: Store): Promise<StagedChunk | undefined> =>
  (await findStored(store, stagedKey(chunkId), stagedSchema, MAX_LIST_BYTES))?.value;

/** The message of a chunk's job. */
export const chunkMessage = (chunkId: ChunkId, { request, rows }: StagedChunk): ScoreJob & ChunkId => ({
  ...request,
  version: 1,
  type: 'score',
  id: chunkJobId(chunkId),
  texts: textsOf(rows),
  ...chunkId,
});

/** The texts of rows. Their ids are the numbers of their lines. */
const textsOf = (rows: readonly StagedRow[]) =>
  rows.flatMap((row) => ('text' in row ? [{ id: String(row.line), text: row.text }] : []));

type Sentiments = { readonly topicSentiments?: unknown; readonly sentiment?: unknown };

/** One line of a part. Members are written in this order. */
export type ScoredRow = Sentiments &
  Partial<RowCosts> & {
    readonly id?: string | undefined;
    readonly line: number;
    readonly columns?: Readonly<Record<string, string>> | undefined;
    /** The hash of the text, by which the text can be found and erased. */
    readonly textHash?: string;
    /** The sentiments as the platform sent them; absent if they are in lower case anyway. */
    readonly sent?: Sentiments | undefined;
    readonly model?: unknown;
    readonly error?: string;
    readonly erased?: true;
  };

/** How a row ended. */
export function outcomeOf({ error, erased, textHash }: ScoredRow): (typeof outcomes)[number] {
  if (erased) return 'erased';
  if (error === undefined) return 'scored';
  if (textHash === undefined) return 'bad';
  return error.startsWith(CANCELLED) ? 'cancelled' : 'failed';
}

/** A row with its result and its cost. `scored` is undefined if its job did not score it. */
export function scoredRow(
  row: StagedRow,
  scored:
    | {
        readonly result?: Pick<ScoredRow, 'topicSentiments' | 'sentiment' | 'model'> | undefined;
        readonly error?: string | undefined;
      }
    | undefined,
  costs: Partial<RowCosts> = {},
): ScoredRow {
  const { line, id } = row;
  if ('fault' in row) return { id, line, columns: row.columns, error: row.fault };
  if ('erased' in row) return { id, line, erased: true, ...costs };
  const columns = Object.keys(row.columns).length === 0 ? undefined : row.columns;
  const about = { id, line, columns, textHash: textHashOf(row.text) };
  if (scored?.result === undefined)
    return { ...about, error: messageOf(scored?.error ?? 'the text was not scored'), ...costs };
  const { topicSentiments, sentiment, model } = scored.result;
  const sent: Sentiments = { topicSentiments, sentiment };
  const lowered: Sentiments = {
    topicSentiments: lowerCaseTopics(topicSentiments),
    sentiment: lowerCase(sentiment),
  };
  const isSame = printJson(sent) === printJson(lowered);
  return { ...about, ...lowered, sent: isSame ? undefined : sent, model, ...costs };
}

const lowerCaseTopics = (sentiments: unknown): unknown =>
  typeof sentiments === 'object' && sentiments !== null
    ? Object.fromEntries(Object.entries(sentiments).map(([topic, value]) => [topic, lowerCase(value)]))
    : sentiments;

/** The beginning of the keys of the parts of a chunk whose writers then replace the row with this token. */
export const partsOver = (chunkId: ChunkId, token: string): string =>
  `${partPrefix(chunkId)}${sha256(token).slice(0, 8)}-`;

/**
 * Prints a part with these rows, each with its outcome, day, batch and chunk. `token`: the token of the chunk's row.
 * The writer then replaces that row by one with the part's key.
 */
export function printPart(chunkId: ChunkId, rows: readonly ScoredRow[], token = '') {
  const { batch, chunk } = chunkId;
  const lines = rows.map((row) => {
    const derived = { outcome: outcomeOf(row), day: dateIn(row.columns)?.day };
    return `${printJson({ ...row, ...derived, batch, chunk })}\n`;
  });
  const body = gzipSync(lines.join(''));
  // Sets the byte for the operating system (RFC 1952, 2.3) to unknown, since it would differ between machines.
  body[9] = 255;
  return { key: `${partsOver(chunkId, token)}${sha256(body).slice(0, 12)}.ndjson.gz`, body };
}

/** Parses the rows of a part. Throws `StoredObjectError` if the bytes are not a part, or decompress to too many bytes. */
export function parsePart(key: string, body: Buffer): readonly ScoredRow[] {
  const rows = rowsOfPart(key, body);
  try {
    return rows.map((row) => {
      const { outcome, day, batch, chunk, ...scored } = parseJson(row.toString()) as ScoredRow &
        ChunkId & { readonly outcome?: string; readonly day?: string };
      return scored;
    });
  } catch {
    throw notAPartError(key, body);
  }
}

/**
 * The rows of a part of scores, each with its outcome, and the day in the first column that has a date.
 * Throws `StoredObjectError`.
 */
export async function readScores(store: Pick<Store, 'get'>, key: string) {
  const stored = await store.get(key);
  if (stored === undefined) throw new StoredObjectError('missing', `${key}: expected a part, got nothing`);
  const rows = parsePart(key, stored.body);
  return rows.map((row) => ({ ...row, outcome: outcomeOf(row), date: dateIn(row.columns) }));
}

/**
 * Reads an open chunk. `part`: the key of the part in the chunk's row. If the part is missing, all texts are scored
 * again. Throws `StoredObjectError`.
 */
export async function readOpenChunk(
  chunkId: ChunkId,
  part: string | undefined,
  store: Store,
): Promise<
  StagedChunk & {
    /** The texts of the chunk that have no score. */
    readonly texts: ScoreJob['texts'];
    /** The rows of the chunk's part, by line, if the chunk was reopened: their scores are already paid for. */
    readonly prior: ReadonlyMap<number, ScoredRow>;
  }
> {
  const staged = await findStaged(chunkId, store);
  if (staged === undefined) throw missingObject(store, stagedKey(chunkId), 'a chunk');
  const stored = part === undefined ? undefined : await store.get(part);
  const rows = part === undefined || stored === undefined ? [] : parsePart(part, stored.body);
  const prior = new Map(rows.map((row) => [row.line, row]));
  return { ...staged, texts: textsOf(staged.rows.filter(({ line }) => !hasScore(prior.get(line)))), prior };
}

/** Whether a row of a part already has a score, so that it needs no call. */
export const hasScore = (row: ScoredRow | undefined): row is ScoredRow =>
  row !== undefined && outcomeOf(row) === 'scored';

const DOTTED = /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})(?![^ T])/;
const SORTED = /^(?<year>\d{4})(?<sign>[-/])(?<month>\d\d)\k<sign>(?<day>\d\d)(?![^ T])/;
/** Maximum length of the time that may follow a day. */
const MAX_TIME_LENGTH = 24;

/**
 * The day in a cell of a table, `2026-11-22`, as it is written there, whatever the time zone; undefined if there is
 * none. Not recognized: `11/12/2026`, whose day and month cannot be told apart, and numbers except epoch milliseconds
 * from 2001 to 2033.
 */
function dayIn(cell: string): string | undefined {
  const text = cell.trim();
  const found = SORTED.exec(text) ?? DOTTED.exec(text);
  const { year = '', month = '', day = '' } = found?.groups ?? {};
  if (found !== null && text.length > found[0].length + MAX_TIME_LENGTH) return undefined;
  const ms = /^1\d{12}$/.test(text)
    ? Number(text)
    : Date.parse(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);
}

/** The first column of a row that has a date, and its day, under which the row is counted. */
function dateIn(
  cells: Readonly<Record<string, string>> = {},
): { readonly column: string; readonly day: string } | undefined {
  for (const [column, cell] of Object.entries(cells)) {
    const day = dayIn(cell);
    if (day !== undefined) return { column, day };
  }
  return undefined;
}

/** Maximum bytes of a part, which has at most a hundred rows, after decompression. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

/**
 * The rows of a part of scores, each a line of JSON; undefined if the part no longer exists. Throws the errors of
 * `rowsOfPart`.
 */
export async function findRows(
  store: Pick<Store, 'get'>,
  key: string,
  signal?: AbortSignal,
): Promise<readonly Buffer[] | undefined> {
  const stored = await store.get(key, signal === undefined ? {} : { signal });
  return stored && rowsOfPart(key, stored.body);
}

/**
 * The rows in the bytes of a part. Throws `StoredObjectError` if the bytes do not match the hash in the key, or are
 * not a part.
 */
function rowsOfPart(key: string, body: Buffer): readonly Buffer[] {
  const [, hashInName] = /-([0-9a-f]{12})\.ndjson\.gz$/.exec(key) ?? [];
  if (hashInName !== undefined && !hash('sha256', body).startsWith(hashInName))
    throw new StoredObjectError(
      'invalid',
      `${key} is damaged: its bytes do not match the sha256 in its name`,
    );
  return linesIn(unpacked(key, body));
}

function unpacked(key: string, body: Buffer): Buffer {
  try {
    return gunzipSync(body, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch {
    throw notAPartError(key, body);
  }
}

/** The error for an object that is not a part. It has no cause, which could quote the content. */
const notAPartError = (key: string, body: Buffer) =>
  new StoredObjectError(
    'invalid',
    `${key} is not what platform-sync writes there (${body.byteLength} bytes that are not rows)`,
  );

function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.byteLength; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.byteLength : feed;
    if (end > start) lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

const LINE_FEED = 0x0a;

import { createHash } from 'node:crypto';
import { freeMemory } from '../base/json/index.ts';
import { keySegment, missingObject, type Store, type StoredObject, updateObject } from '../store/index.ts';
import type { EndedJobRow, JobError, Outcome, RunOutcome } from './ledger/job-row.ts';
import { parseObject } from './message/check-message.ts';
import type { QueueMessage } from './queue/queue.ts';
import { readListed } from './results/read-listed.ts';

/** The row of an ended job with its type, which comes from the row or from the message that named the job. */
type TypedJobRow = EndedJobRow & { readonly type: string };

type ResultOf = Pick<TypedJobRow, 'type' | 'dt' | 'id'>;

/** The key of a job's result in the store. */
export const resultKey = ({ type, dt, id }: ResultOf): string =>
  `results/${type}/dt=${dt}/${keySegment(id)}.json`;

/**
 * The limit for reading a result. No response can be this large, since a JavaScript string holds at most half as much.
 */
export const NO_LIMIT = { maxBytes: 1024 * 1024 * 1024 };

/** A response with more bytes than this is put into the store, since a row of the table may have at most 400 KB. */
const MAX_ROW_BYTES = 100_000;

/** The outcome in the form for the ledger. A large response is staged in the store, and replaced by its key. */
export async function stagedOutcome(
  store: Store,
  { id, fence }: Pick<EndedJobRow, 'id' | 'fence'>,
  { response, ...rest }: RunOutcome,
): Promise<Outcome> {
  if (!Buffer.isBuffer(response)) {
    if (response === undefined) return rest;
    if (typeof response !== 'string' || Buffer.byteLength(response) <= MAX_ROW_BYTES)
      return { ...rest, response };
  }
  const sha256 = createHash('sha256').update(response).digest('hex');
  const staged = `work/outcomes/${keySegment(id)}/${fence}-${sha256.slice(0, 12)}.json`;
  const body = typeof response === 'string' ? Buffer.from(response) : response;
  await store.put(staged, body, { contentType: 'application/json' });
  return { ...rest, staged };
}

/**
 * Writes the result of an ended job, always with the same bytes, and returns its key. It overwrites only the result
 * of an earlier outcome of the same job.
 */
export async function writeResult(store: Store, row: TypedJobRow): Promise<string> {
  const key = resultKey(row);
  const body = printResult(row, await responseBytes(store, row.outcome));
  // `isNew`: most likely the job has no result yet.
  const options = { ...NO_LIMIT, isNew: true, contentType: 'application/json' };
  const isLater = (there: StoredObject | undefined) =>
    there !== undefined && endOf(there.body) >= row.finishedAt;
  await updateObject(store, key, (there) => (isLater(there) ? undefined : body), options);
  return key;
}

/** The response of an outcome as a string of JSON, from the row or the store; undefined if it has none. */
export const responseOf = async (store: Store, outcome: Outcome): Promise<string | undefined> =>
  (await responseBytes(store, outcome))?.toString();

/**
 * The response in the JSON of a result, where `printResult` puts it last. It is not parsed, so that its numbers
 * keep their digits.
 */
export const responseIn = (result: string): string | undefined =>
  /,"response":(.*)\}$/s.exec(result.trim())?.[1];

async function responseBytes(
  store: Store,
  { response, staged, result }: Outcome,
): Promise<Buffer | undefined> {
  if (result !== undefined) {
    const text = responseIn((await store.get(result, NO_LIMIT))?.body.toString() ?? '');
    return text === undefined ? undefined : Buffer.from(text);
  }
  if (staged === undefined) return typeof response === 'string' ? Buffer.from(response) : undefined;
  const stored = await store.get(staged, NO_LIMIT);
  if (stored === undefined) throw missingObject(store, staged, 'a job’s response');
  return stored.body;
}

/**
 * Prints a result as one line. The response is copied as received, without its line ends, so that its numbers
 * keep their digits.
 */
function printResult(row: TypedJobRow, response: Buffer | undefined): Buffer {
  const { id, type, outcome, attempts, startedAt, finishedAt, createdAt, sender } = row;
  const withoutResponse = JSON.stringify({
    version: 1,
    id,
    type,
    status: outcome.status,
    attempts,
    startedAt: new Date(startedAt ?? createdAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
    sender: sender ?? null,
    ...(outcome.note === undefined ? {} : { note: outcome.note }),
    ...(outcome.error === undefined ? {} : { error: outcome.error satisfies JobError }),
  });
  if (response === undefined) return Buffer.from(`${withoutResponse}\n`);
  const head = Buffer.from(`${withoutResponse.slice(0, -1)},"response":`);
  const result = Buffer.concat([head, response, Buffer.from('}\n')]);
  // Frees the copied response now, so that a large one is not in memory twice.
  freeMemory(response);
  for (let at = head.length; at < result.length - 1; at += 1)
    if (result[at] === LINE_FEED || result[at] === RETURN) result[at] = SPACE;
  return result;
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

/** When the job of a stored result ended, in epoch milliseconds; minus infinity if the body is not a result. */
function endOf(body: Buffer): number {
  const finishedAt = /"finishedAt":"([^"]+)"/.exec(body.toString('utf8', 0, 2_048))?.[1];
  return finishedAt === undefined ? Number.NEGATIVE_INFINITY : Date.parse(finishedAt);
}

/** Stores a message that could not become a job, with every reason. Returns the key. */
export async function storeRefused(
  store: Store,
  { messageId, body, sender, sentAtMs }: QueueMessage,
  faults: readonly string[],
): Promise<string> {
  const key = `refused/${keySegment(messageId)}.json`;
  const sentAt = sentAtMs === undefined ? null : new Date(sentAtMs).toISOString();
  const refused = { version: 1, messageId, sender, sentAt, faults, body };
  await store.put(key, Buffer.from(`${JSON.stringify(refused)}\n`), { contentType: 'application/json' });
  return key;
}

/** The event that a job has ended, sent at least once. `result` is the key of the job's result. */
export type JobFinished = {
  readonly id: string;
  readonly type: string;
  readonly status: Outcome['status'];
  readonly result: string;
};

type ResultFilter = {
  /** Only jobs of this type. Default: all. */
  readonly type?: string | undefined;
  /** Only jobs that were first claimed on this day, `2026-11-22`; needs `type`. Default: all. */
  readonly day?: string | undefined;
  /** Only jobs that ended at this time or later, in epoch milliseconds. Default: all. */
  readonly sinceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

const CONCURRENT_READS = 16;

/**
 * The maximum time from a job's first claim to its end, in milliseconds. Its result is stored under the day
 * of the claim, and its row in the ledger expires later than this.
 */
const MAX_JOB_MS = 31 * 24 * 3_600_000;

/** The results in a store, by type, day and id. Of a result that is not JSON, only the key is returned. */
export async function* storedResults(
  store: Pick<Store, 'list' | 'get'>,
  { sinceMs, signal, ...filter }: ResultFilter,
): AsyncGenerator<
  | {
      readonly key: string;
      /** The result as one line of JSON. */
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
    }
  | { readonly key: string; readonly value: undefined }
> {
  const keys = matchingKeys(store, { ...filter, sinceMs, signal });
  const read = (key: string, aborted: AbortSignal) => readResult(store, key, aborted);
  for await (const result of readListed(keys, { read, concurrency: CONCURRENT_READS, signal }))
    if (result !== undefined && (result.value === undefined || endedSince(result.value, sinceMs)))
      yield result;
}

async function* matchingKeys(
  store: Pick<Store, 'list'>,
  { type, day: only, sinceMs, signal }: ResultFilter,
): AsyncGenerator<string> {
  const firstDay =
    sinceMs === undefined ? '' : new Date(Math.max(0, sinceMs - MAX_JOB_MS)).toISOString().slice(0, 10);
  const folder = only === undefined ? '' : `dt=${only}/`;
  const prefix = type === undefined ? 'results/' : `results/${type}/${folder}`;
  for await (const { key } of store.list(prefix, signal === undefined ? {} : { signal })) {
    const day = /^results\/[^/]+\/dt=([^/]+)\//.exec(key)?.[1];
    if (day !== undefined && day >= firstDay && key.endsWith('.json')) yield key;
  }
}

/**
 * Finds the result of a job; undefined if it has none, or only a result of an earlier outcome. `value` is
 * undefined if the result is not JSON.
 */
export async function findResult(
  store: Pick<Store, 'get'>,
  row: ResultOf & { readonly finishedAt?: number },
) {
  const found = await readResult(store, resultKey(row));
  return row.finishedAt !== undefined && found?.value && !endedSince(found.value, row.finishedAt)
    ? undefined
    : found;
}

async function readResult(store: Pick<Store, 'get'>, key: string, signal?: AbortSignal) {
  const body = await readResultBytes(store, key, signal);
  if (body === undefined) return undefined;
  const text = body.toString().trim();
  return { key, text, value: parseObject(text) };
}

/** Reads the bytes of a result; undefined if it was deleted. */
export async function readResultBytes(
  store: Pick<Store, 'get'>,
  key: string,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  return (await store.get(key, { ...NO_LIMIT, ...(signal === undefined ? {} : { signal }) }))?.body;
}

/** Whether a job ended at `sinceMs` or later; true if its result does not say when. */
function endedSince(
  { finishedAt }: Readonly<Record<string, unknown>>,
  sinceMs = Number.NEGATIVE_INFINITY,
): boolean {
  const endMs = typeof finishedAt === 'string' ? Date.parse(finishedAt) : Number.NaN;
  return Number.isNaN(endMs) || endMs >= sinceMs;
}

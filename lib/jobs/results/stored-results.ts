import type { Store } from '../../store/index.ts';
import { objectIn } from '../message/check-message.ts';
import { type ResultOf, resultKey, WHOLE } from '../result.ts';
import { readListed } from './read-listed.ts';

type ResultsWanted = {
  /** One type of job; default: all. */
  readonly type?: string | undefined;
  /** The day on which a job was first claimed, `2026-11-22`, with `type`; default: all. */
  readonly day?: string | undefined;
  /** Epoch milliseconds: results of jobs that ended then or later. Default: all. */
  readonly sinceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

const AT_ONCE = 16;

/**
 * The longest time from a job's first claim to its end: its result is stored under the day of the claim, and the ledger
 * forgets it later.
 */
const MAX_JOB_MS = 31 * 24 * 3_600_000;

/** The results in a store, by type, day and id. A result that is not JSON has the key alone. */
export async function* storedResults(
  store: Pick<Store, 'list' | 'get'>,
  { sinceMs, signal, ...wanted }: ResultsWanted,
): AsyncGenerator<
  | {
      readonly key: string;
      /** One line of JSON. */
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
    }
  | { readonly key: string; readonly value: undefined }
> {
  const keys = wantedKeys(store, { ...wanted, sinceMs, signal });
  const read = (key: string, aborted: AbortSignal) => readResult(store, key, aborted);
  for await (const result of readListed(keys, { read, concurrency: AT_ONCE, signal }))
    if (result !== undefined && (result.value === undefined || endedSince(result.value, sinceMs)))
      yield result;
}

async function* wantedKeys(
  store: Pick<Store, 'list'>,
  { type, day: only, sinceMs, signal }: ResultsWanted,
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

/** The result of a job; undefined if it has none, or one of an earlier end. A value that is not JSON is undefined. */
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
  const body = await bytesOfResult(store, key, signal);
  if (body === undefined) return undefined;
  const text = body.toString().trim();
  return { key, text, value: objectIn(text) };
}

/** The bytes of a result; undefined if it was deleted. */
export async function bytesOfResult(
  store: Pick<Store, 'get'>,
  key: string,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  return (await store.get(key, { ...WHOLE, ...(signal === undefined ? {} : { signal }) }))?.body;
}

/** Whether a job ended since then; true if its result does not say. */
function endedSince(
  { finishedAt }: Readonly<Record<string, unknown>>,
  sinceMs = Number.NEGATIVE_INFINITY,
): boolean {
  const endMs = typeof finishedAt === 'string' ? Date.parse(finishedAt) : Number.NaN;
  return Number.isNaN(endMs) || endMs >= sinceMs;
}

import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for `ms` milliseconds, or not at all if `ms` is negative. If the signal is aborted, rejects with its
 * reason.
 */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(Math.max(0, ms), undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** The limits of the waits between retries, in milliseconds. */
export type BackoffLimits = {
  /** The ceiling of the first wait. The ceiling doubles with each retry, up to `maxDelayMs`. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
};

/**
 * The wait before retry `retry` (1 is the first), with full jitter. Source: "Exponential Backoff And Jitter", AWS
 * Architecture Blog, 2015.
 */
export function backoffMs(retry: number, random: number, { baseDelayMs, maxDelayMs }: BackoffLimits): number {
  return Math.floor(random * Math.min(maxDelayMs, baseDelayMs * 2 ** (retry - 1)));
}

/**
 * Wraps `open` so that it runs once: later calls return the first result. If `open` fails, its callers get the
 * error, and the next call tries again.
 */
export function once<T>(open: () => T | Promise<T>): () => Promise<Awaited<T>> {
  let opened: Promise<Awaited<T>> | undefined;
  return () => {
    if (opened !== undefined) return opened;
    const opening = Promise.try(open);
    opened = opening;
    opening.catch(() => {
      opened = undefined;
    });
    return opening;
  };
}

/** Options for `readAhead`. */
type ReadAheadOptions<Item, Result> = {
  readonly items: readonly Item[];
  readonly read: (item: Item, signal: AbortSignal) => Promise<Result>;
  /** The maximum number of reads in flight, or finished and not yet yielded; at least 1. */
  readonly concurrency: number;
  /** The memory that a result takes, in bytes. Default: sizes are not counted. */
  readonly sizeOf?: (result: Result) => number;
  readonly signal?: AbortSignal | undefined;
};

/** Maximum bytes of memory for results that are read ahead, estimated from the sizes of the latest results. */
const MAX_AHEAD_BYTES = 64 * 1024 * 1024;

/**
 * Reads in parallel, and yields in the order of the items. The first failure aborts all other reads, and is thrown
 * after the results of earlier items. With `sizeOf`, the first item is read by itself, and fewer items are read
 * ahead after large results.
 */
export async function* readAhead<Item, Result>({
  items,
  read,
  concurrency,
  sizeOf,
  signal: given,
}: ReadAheadOptions<Item, Result>): AsyncGenerator<Result, void, undefined> {
  const ended = new AbortController();
  const signal = given === undefined ? ended.signal : AbortSignal.any([given, ended.signal]);
  let failed: { readonly error: unknown } | undefined;
  // Never rejects: the consumer may have stopped iterating, and an unhandled rejection would end the process.
  const start = async (item: Item) => {
    try {
      return { result: await read(item, signal) };
    } catch (error) {
      // This failure aborts the other reads, so it is the one to report.
      failed ??= { error };
      ended.abort();
      return failed;
    }
  };
  let sizes: readonly number[] = [];
  const queue: ReturnType<typeof start>[] = [];
  let started = 0;
  const fill = (beingYielded: number) => {
    const fits = sizes.length === 0 ? 1 : Math.floor(MAX_AHEAD_BYTES / Math.max(1, ...sizes));
    const max = sizeOf === undefined ? concurrency : Math.min(concurrency, Math.max(1, fits) - beingYielded);
    const free = ended.signal.aborted ? 0 : Math.max(0, max - queue.length);
    queue.push(...items.slice(started, started + free).map(start));
    started = Math.min(items.length, started + free);
  };
  try {
    given?.throwIfAborted();
    fill(0);
    for (let head = queue.shift(); head !== undefined; head = queue.shift()) {
      const outcome = await head;
      given?.throwIfAborted();
      if ('error' in outcome) throw outcome.error;
      if (sizeOf !== undefined) sizes = [...sizes, sizeOf(outcome.result)].slice(-concurrency);
      fill(1);
      yield outcome.result;
      fill(0);
    }
  } finally {
    ended.abort();
  }
}

import { setTimeout as delay } from 'node:timers/promises';

/** Waits for `ms` milliseconds, or not at all if negative; rejects with the signal's reason as soon as it is aborted. */
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
  /** The ceiling of the first wait; it doubles with each retry up to `maxDelayMs`. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
};

/** Full jitter; `retry` 1 is the first. Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. */
export function backoffMs(retry: number, random: number, { baseDelayMs, maxDelayMs }: BackoffLimits): number {
  return Math.floor(random * Math.min(maxDelayMs, baseDelayMs * 2 ** (retry - 1)));
}

/** Opens on the first call; a failed attempt is forgotten: its callers see the failure, and the next call tries again. */
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

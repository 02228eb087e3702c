import { backoffMs } from './async.ts';

type RetryOptions = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  /** When to give up, in epoch milliseconds. Called before each wait, since the result may change. Default: never. */
  readonly untilMs?: () => number;
  /** Whether a retry may succeed after this error. Default: it may. */
  readonly mayPass?: (error: unknown) => boolean;
  /** Milliseconds before retry `retry` (1 is the first). Default: a backoff of up to 5 s. */
  readonly waitMs?: (retry: number, random: number) => number;
  /**
   * Milliseconds after which a try is reported as slow. At `untilMs`, a slow try is abandoned. Default: slow tries are
   * neither reported nor abandoned.
   */
  readonly slowMs?: number;
  /** Called with the error after try `tries` has failed, and repeatedly while a try is slow. */
  readonly onTrouble?: (error: unknown, tries: number) => void;
};

class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** The waits between tries: work resumes at most 5 s after an outage ends. */
const BACKOFF = { baseDelayMs: 400, maxDelayMs: 5_000 };

/** Tries `work` until it succeeds, cannot succeed, or time is up. `work` gets the number of the try, from 1. */
export async function retryUntil<T>(work: (tries: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { untilMs = () => Number.POSITIVE_INFINITY, mayPass = () => true, onTrouble } = options;
  const { now, sleep, random, waitMs = (retry, chance) => backoffMs(retry, chance, BACKOFF) } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return await withWatchdog(work(tries), tries, { ...options, untilMs });
    } catch (error) {
      if (error instanceof OutOfTimeError) throw error;
      onTrouble?.(error, tries);
      if (!mayPass(error)) throw error;
      const delayMs = waitMs(tries, random());
      if (now() + delayMs >= untilMs()) throw error;
      await sleep(delayMs);
    }
  }
}

/** The reason of the abort. Without a reason, an error with a stack would be allocated. */
const SETTLED = 'settled';

/** Waits for a try, but only until time is up: a try that hangs would keep an invocation from responding. */
async function withWatchdog<T>(
  trying: Promise<T>,
  tries: number,
  { untilMs, slowMs, onTrouble, now, sleep }: RetryOptions & { readonly untilMs: () => number },
): Promise<T> {
  if (slowMs === undefined) return trying;
  const settled = new AbortController();
  const tried = trying.finally(() => settled.abort(SETTLED));
  const watch = async (): Promise<never> => {
    for (;;) {
      await sleep(Math.max(0, Math.min(slowMs, untilMs() - now())), settled.signal);
      const error = new OutOfTimeError(`no response after ${slowMs} ms or more`);
      onTrouble?.(error, tries);
      if (now() >= untilMs()) throw error;
    }
  };
  // After the try has settled, the abort ends the watch, and the result of the try replaces the watch's rejection.
  return Promise.race([
    tried,
    watch().catch((error: unknown) => (settled.signal.aborted ? tried : Promise.reject(error))),
  ]);
}

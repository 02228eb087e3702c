import { backoffMs } from '../base/index.ts';

export type PersistOptions = {
  /** Until when it is tried, in epoch milliseconds; asked again before each wait. */
  readonly untilMs: () => number;
  /** Called after each try that failed, and while one takes long: with what went wrong. */
  readonly onTrouble?: (error: unknown) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** At least 0 and below 1. */
  readonly random: () => number;
};

/** A try was still under way when the time was over. */
class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** Waits between tries. The longest bounds how long after the end of an outage the work is done. */
const BACKOFF = { baseDelayMs: 400, maxDelayMs: 5_000 };

/** A try that takes longer than this is trouble: a service that does not respond is as good as one that is away. */
const SLOW_MS = 2_000;

/**
 * Does something again and again until it succeeds, and throws the last error once the time is over. It is tried once in
 * any case. `work` may be repeated after a failure, since its failure does not prove that it was not done.
 */
export async function persist<T>(work: () => Promise<T>, options: PersistOptions): Promise<T> {
  const { untilMs, onTrouble, now, sleep, random } = options;
  for (let retry = 1; ; retry += 1) {
    try {
      return await inTime(work(), options);
    } catch (error) {
      if (error instanceof OutOfTimeError) throw error;
      onTrouble?.(error);
      const waitMs = backoffMs(retry, random(), BACKOFF);
      if (now() + waitMs >= untilMs()) throw error;
      await sleep(waitMs);
    }
  }
}

/** Waits for a try, but not beyond the time: one that hangs must not keep an invocation from responding. */
async function inTime<T>(trying: Promise<T>, options: PersistOptions): Promise<T> {
  const { untilMs, onTrouble, now, sleep } = options;
  const settled = new AbortController();
  const tried = trying.finally(() => settled.abort());
  const watch = async (): Promise<never> => {
    for (;;) {
      await sleep(Math.max(0, Math.min(SLOW_MS, untilMs() - now())), settled.signal);
      const error = new OutOfTimeError(`no response after ${SLOW_MS} ms or more`);
      onTrouble?.(error);
      if (now() >= untilMs()) throw error;
    }
  };
  // Once the try has settled, the watch ends with an abort that nobody waits for.
  return Promise.race([
    tried,
    watch().catch((error: unknown) => (settled.signal.aborted ? tried : Promise.reject(error))),
  ]);
}

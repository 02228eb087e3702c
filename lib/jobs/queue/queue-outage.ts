import type { Logger } from 'pino';
import { AwsError, backoffMs } from '../../base/index.ts';

export type QueueOutageOptions = {
  readonly worker: { readonly logger: Logger; readonly random: () => number };
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Ends a wait. */
  readonly signal: AbortSignal;
  /** Somebody watches: a queue that has never responded is not waited for, since its address is most likely wrong. */
  readonly isWatched?: boolean | undefined;
};

/** Waits between tries while a queue is away. The SDK has tried three times before each. */
const TRIES = { baseDelayMs: 1_000, maxDelayMs: 20_000 };

/** True if a queue did not respond, or was at its limit: that passes. A queue that is missing or denied stays so. */
export const isQueueAway = (error: unknown): error is AwsError =>
  error instanceof AwsError && ['busy', 'unreachable'].includes(error.failure.kind);

/** How long to wait before the next try, with some jitter. `tries`: 1 is the first that failed. */
export const queueWaitMs = (tries: number, random: number): number =>
  backoffMs(tries, 0.5 + random / 2, TRIES);

/** Waits for a queue that is away: logged once for each outage. */
export function createQueueOutage({
  worker: { logger, random },
  sleep,
  signal,
  isWatched = false,
}: QueueOutageOptions) {
  let tries = 0;
  let hasResponded = false;
  return {
    /** What the request returns; undefined, after a wait, if the queue is away. Throws what will not pass. */
    async during<T>(request: () => Promise<T>): Promise<T | undefined> {
      try {
        const result = await request();
        hasResponded = true;
        if (tries > 0) logger.info('the queue is back');
        tries = 0;
        return result;
      } catch (err) {
        if (!isQueueAway(err) || (isWatched && !hasResponded)) throw err;
        tries += 1;
        if (tries === 1) logger.warn({ err }, 'the queue is away: tried again until it responds');
        await sleep(queueWaitMs(tries, random()), signal).catch(() => undefined);
        return undefined;
      }
    },
  };
}

import { backoffMs } from '../base/index.ts';

/** Waits between tries while a queue is away. The SDK has tried three times before each. */
const TRIES = { baseDelayMs: 1_000, maxDelayMs: 20_000 };

/** How long to wait before the next request of a queue that is away, with some jitter. `tries`: 1 is the first. */
export const queueWaitMs = (tries: number, random: number): number =>
  backoffMs(tries, 0.5 + random / 2, TRIES);

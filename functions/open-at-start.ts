import { setTimeout as delay } from 'node:timers/promises';

/** Lambda gives the start of a process 10 s, and begins again if it takes longer. */
const MOST_MS = 3_000;

/**
 * Opens what all events share when Lambda starts the process, which has a whole processor then. If that fails, or takes
 * longer, since a service is away, the first event opens it or waits for it.
 */
export async function openAtStart(open: () => Promise<unknown>): Promise<void> {
  await Promise.race([open(), delay(MOST_MS, undefined, { ref: false })]).catch(() => undefined);
}

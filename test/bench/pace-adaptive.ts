import PQueue from 'p-queue';
import { sleep } from '../../lib/base/time/sleep.ts';
import type { Pace } from '../../lib/pace/pace.ts';

/** How fast the rate rises while nothing is refused, in requests a second per second, and what a 429 leaves of it. */
const RISE = 0.25;
const FALL = 0.5;
const LEAST_RATE = 0.2;

/**
 * What many clients do if nothing is shared: each process finds its rate alone. It rises a little each second and is
 * halved by a 429 (AIMD), after which the process waits for `Retry-After`, or a second.
 */
export function createAdaptivePace(startRate: number, concurrency: number): Pace {
  const inFlight = new PQueue({ concurrency });
  const turns = new PQueue({ concurrency: 1 });
  let [rate, changedAtMs, nextAtMs, granted, throttled] = [startRate, performance.now(), 0, 0, 0];

  const rateNow = () => rate + (RISE * (performance.now() - changedAtMs)) / 1000;

  const take = async () => {
    const calledAtMs = performance.now();
    while (performance.now() < nextAtMs) await sleep(nextAtMs - performance.now());
    const atMs = performance.now();
    nextAtMs = atMs + 1000 / rateNow();
    granted += 1;
    return { atMs, waitedMs: atMs - calledAtMs };
  };

  return {
    run: (call) => inFlight.add(async () => call(await turns.add(take))),
    async throttled(slot, retryAfterMs = 1000) {
      throttled += 1;
      if (slot.atMs < changedAtMs) return;
      rate = Math.max(LEAST_RATE, rateNow() * FALL);
      changedAtMs = performance.now();
      nextAtMs = changedAtMs + retryAfterMs;
    },
    counts: () => ({
      granted,
      used: granted,
      wasted: 0,
      waitedMs: 0,
      throttled,
      effectiveRate: rateNow(),
    }),
  };
}

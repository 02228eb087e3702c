import { effectiveRate, type Lowered, lowerRate, pauseAfter429 } from './effective-rate.ts';
import { afterCall, dueAtMs, spacingFor } from './gcra.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import type { Clock, SlotSource } from './slots.ts';

export type LocalSlotsOptions = {
  /** Requests a second. */
  readonly rate: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** When the first slot is due. Default: immediately. */
  readonly firstMs?: number;
};

/** The slots of one process, by its own clock. */
export function createLocalSlots({ rate, maxWaitMs, clock, firstMs }: LocalSlotsOptions): SlotSource {
  let tatMs = firstMs ?? Number.NEGATIVE_INFINITY;
  let lowered: Lowered | undefined;
  let [granted, waitedMs, throttled] = [0, 0, 0];

  const spacing = () => spacingFor(effectiveRate(rate, lowered, clock.now()));

  return {
    async take({ calledAtMs, signal }) {
      // Computed again after each sleep: a 429 in the meantime moves the time.
      for (let now = clock.now(); now < dueAtMs(tatMs, spacing()); now = clock.now()) {
        const dueMs = dueAtMs(tatMs, spacing());
        if (dueMs - calledAtMs > maxWaitMs) throw new PaceWaitError(dueMs - calledAtMs, maxWaitMs);
        await clock.sleep(dueMs - now, signal);
      }
      signal?.throwIfAborted();
      const atMs = clock.now();
      tatMs = afterCall(tatMs, atMs, spacing());
      granted += 1;
      const slot = { atMs, waitedMs: atMs - calledAtMs };
      waitedMs += slot.waitedMs;
      return slot;
    },
    dueAtMs: (ahead) => dueAtMs(tatMs, spacing()) + ahead * spacing().intervalMs,
    async throttled(slot, retryAfterMs) {
      throttled += 1;
      const nowMs = clock.now();
      // Calls that left before the rate was last lowered belong to the same incident.
      if (lowered !== undefined && slot.atMs < lowered.atMs) return;
      lowered = lowerRate(rate, lowered, nowMs);
      tatMs = Math.max(tatMs, nowMs + pauseAfter429(retryAfterMs));
    },
    counts: () => ({
      granted,
      used: granted,
      wasted: 0,
      waitedMs,
      throttled,
      safeRate: 0,
      effectiveRate: effectiveRate(rate, lowered, clock.now()),
    }),
  };
}

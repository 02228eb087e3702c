import type { Slot } from './pace.ts';
import { type Clock, type Moment, momentOf } from './slots.ts';

/** A 429 comes at once: a call that has not ended by then was accepted and only takes long. Milliseconds. */
const ACCEPTED_AFTER_MS = 2_000;

export type Proof = ReturnType<typeof createProof>;

/** What a process knows from its own calls about whether the platform accepts any since the last 429. */
export function createProof(clock: Clock) {
  const underWay = new Map<Slot, { readonly incidents: number; readonly at: Moment }>();
  const sleepers = new Set<AbortController>();
  let proved = -1;

  const wake = () => {
    for (const sleeper of sleepers) sleeper.abort('woken');
  };

  return {
    /** A call leaves in this slot, after `incidents` 429s. */
    left(slot: Slot, incidents: number): void {
      underWay.set(slot, { incidents, at: momentOf(clock) });
    },
    ended(slot: Slot, succeeded: boolean): void {
      const call = underWay.get(slot);
      underWay.delete(slot);
      if (call === undefined || !succeeded) return;
      proved = Math.max(proved, call.incidents);
      wake();
    },
    has(incidents: number): boolean {
      if (proved === incidents) return true;
      const beforeMs = clock.now() - ACCEPTED_AFTER_MS;
      return [...underWay.values()].some((call) => call.incidents === incidents && call.at() <= beforeMs);
    },
    wake,
    /** Sleeps, but no longer than until a call is accepted or `wake` is called. */
    async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
      const sleeper = new AbortController();
      sleepers.add(sleeper);
      const woken = signal === undefined ? sleeper.signal : AbortSignal.any([sleeper.signal, signal]);
      try {
        await clock.sleep(ms, woken);
      } catch (error) {
        if (!sleeper.signal.aborted) throw error;
      } finally {
        sleepers.delete(sleeper);
      }
    },
  };
}

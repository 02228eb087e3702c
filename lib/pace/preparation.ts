import PQueue from 'p-queue';
import { enqueue } from './enqueue.ts';
import type { SlotSource } from './fleet-slots.ts';
import { createRecentLongest } from './recent-longest.ts';
import { type Clock, type Moment, momentOf, type SlotRequest } from './slots.ts';

type PreparationOptions = {
  readonly source: SlotSource;
  readonly clock: Clock;
  readonly ready: () => number;
};

/** How much longer than recent ones a preparation may take before it counts as late, in milliseconds. */
const LATE_MS = 5;

const FIRST_LATE_MS = 250;

/**
 * What calls do before they may leave. Starts each call's preparation as long before its slot as recent ones took: earlier, and a crash would find more calls
 * that are recorded as sent and have not left. One that takes longer leaves its slot to the call behind it.
 */
export function createPreparation({ source, clock, ready }: PreparationOptions) {
  const approaching = new PQueue({ concurrency: 1 });
  const longest = createRecentLongest();
  let isMeasured = false;
  const started = new Map<SlotRequest, Moment>();

  const ahead = () => {
    const lateAfterMs = isMeasured ? longest.ms() + LATE_MS : FIRST_LATE_MS;
    const lefts = [...started.values()].map((at) => at() + lateAfterMs - clock.now());
    const punctual = lefts.filter((leftMs) => leftMs > 0);
    return { calls: ready() + punctual.length, forMs: Math.max(1, Math.min(...punctual)) };
  };

  const calls = () => approaching.size + approaching.pending + started.size;

  return {
    /** Throws what `act` throws. */
    async prepare(request: SlotRequest, act: () => Promise<void>): Promise<void> {
      const approach = async () => {
        await source.approach({ ...request, ahead, leadMs: longest.ms });
        // Still in the queue: the next call must find this one ahead of it.
        started.set(request, momentOf(clock));
      };
      await enqueue(approaching, approach, request.signal);
      let isReady = false;
      try {
        await act();
        isReady = true;
      } finally {
        longest.add(clock.now() - (started.get(request)?.() ?? 0));
        started.delete(request);
        isMeasured = true;
        if (!isReady) source.wake();
      }
    },
    calls,
    /** How many of them will soon be ready: one until it is known how long that takes. */
    expected: () => (isMeasured ? calls() : Math.min(1, calls())),
    leadMs: longest.ms,
  };
}

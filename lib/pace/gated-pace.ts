import PQueue from 'p-queue';
import type { Pace, RunOptions, Slot } from './pace.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import type { Clock, Demand, SlotSource } from './slots.ts';

export type GateOptions = {
  readonly source: SlotSource;
  /** Holds the calls in flight, up to its own concurrency. */
  readonly inFlight: PQueue;
  readonly maxWaitMs: number;
  readonly clock: Clock;
};

/** The weight of the newest call in the moving average of how long calls take. */
const NEWEST = 0.2;

/**
 * A pace over a source of slots. Calls take their slots one after another in the order they arrived, and only once
 * they have a place in flight, so that no slot is wasted on a call that cannot leave.
 */
export function createGatedPace({ source, inFlight, maxWaitMs, clock }: GateOptions): Pace {
  const turns = new PQueue({ concurrency: 1 });
  const throttledSlots = new WeakSet<Slot>();
  let [arrived, latencyMs] = [0, 0];

  const demand = (): Demand => ({
    waiting: turns.size + turns.pending,
    queued: inFlight.size,
    arrived,
    concurrency: inFlight.concurrency,
    latencyMs,
  });

  const refuseLongWait = (calledAtMs: number) => {
    const waitMs = source.dueAtMs(turns.size + turns.pending) - calledAtMs;
    if (waitMs > maxWaitMs) throw new PaceWaitError(waitMs, maxWaitMs);
  };

  const ended = (leftAtMs: number) => {
    const tookMs = clock.now() - leftAtMs;
    latencyMs = latencyMs === 0 ? tookMs : latencyMs + NEWEST * (tookMs - latencyMs);
  };

  return {
    async run<T>(call: (slot: Slot) => Promise<T>, { signal, isAccepted = () => true }: RunOptions<T> = {}) {
      signal?.throwIfAborted();
      arrived += 1;
      const calledAtMs = clock.now();
      const queued = signal === undefined ? {} : { signal };
      return inFlight.add(async () => {
        refuseLongWait(calledAtMs);
        const slot = await turns.add(() => source.take({ calledAtMs, signal, demand }), queued);
        const leftAtMs = clock.now();
        let accepted = false;
        try {
          const result = await call(slot);
          accepted = !throttledSlots.has(slot) && isAccepted(result);
          return result;
        } finally {
          ended(leftAtMs);
          source.ended(slot, accepted);
        }
      }, queued);
    },
    throttled(slot, retryAfterMs) {
      throttledSlots.add(slot);
      return source.throttled(slot, retryAfterMs);
    },
    counts: () => source.counts(),
  };
}

/** Checks the limits that every pace has. Throws `RangeError` with what was expected and what it got. */
export function checkLimits(options: {
  readonly rate: number;
  readonly concurrency: number;
  readonly maxWaitMs?: number | undefined;
}): void {
  const { rate, concurrency, maxWaitMs } = options;
  if (!(rate > 0 && rate < Number.POSITIVE_INFINITY))
    throw new RangeError(`rate: expected a number above 0, got ${rate}`);
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new RangeError(`concurrency: expected a whole number of at least 1, got ${concurrency}`);
  }
  if (maxWaitMs !== undefined && !(maxWaitMs >= 0)) {
    throw new RangeError(`maxWaitMs: expected a number of at least 0, got ${maxWaitMs}`);
  }
}

import PQueue from 'p-queue';
import { effectiveRate, type Lowered, lowerRate, pauseAfter429 } from './effective-rate.ts';
import { afterCall, dueAtMs, spacingFor } from './gcra.ts';
import type { Pace, RunOptions, Slot } from './pace.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import { sleep } from './sleep.ts';

/** How a pace is made. */
export type LocalPaceOptions = {
  /** Requests a second; above 0. */
  readonly rate: number;
  /** Requests in flight at once; a whole number from 1. */
  readonly concurrency: number;
  /** The longest a call waits for its slot, in milliseconds. Default: for ever. */
  readonly maxWaitMs?: number;
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/**
 * The pace of one process. Calls take their slots one after another in the order they came, and only once they have
 * a place in flight, so that no slot is wasted on a call that cannot leave.
 */
export function createLocalPace(options: LocalPaceOptions): Pace {
  const { rate, concurrency, maxWaitMs = Number.POSITIVE_INFINITY } = checked(options);
  const clock = { now: options.now ?? (() => performance.now()), sleep: options.sleep ?? sleep };
  const inFlight = new PQueue({ concurrency });
  const turns = new PQueue({ concurrency: 1 });
  let tatMs = Number.NEGATIVE_INFINITY;
  let lowered: Lowered | undefined;
  let [granted, waitedMs, throttled] = [0, 0, 0];

  const spacing = () => spacingFor(effectiveRate(rate, lowered, clock.now()));

  const refuseLongWait = (calledAtMs: number) => {
    const ahead = turns.size + turns.pending;
    const waitMs = dueAtMs(tatMs, spacing()) + ahead * spacing().intervalMs - calledAtMs;
    if (waitMs > maxWaitMs) throw new PaceWaitError(waitMs, maxWaitMs);
  };

  const takeSlot = async (calledAtMs: number, signal: AbortSignal | undefined): Promise<Slot> => {
    // Asked anew after each sleep: a 429 meanwhile moves the time on.
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
  };

  return {
    async run<T>(call: (slot: Slot) => Promise<T>, { signal }: RunOptions = {}): Promise<T> {
      signal?.throwIfAborted();
      const calledAtMs = clock.now();
      const queued = signal === undefined ? {} : { signal };
      return inFlight.add(async () => {
        refuseLongWait(calledAtMs);
        return call(await turns.add(() => takeSlot(calledAtMs, signal), queued));
      }, queued);
    },
    async throttled(slot, retryAfterMs) {
      throttled += 1;
      const nowMs = clock.now();
      // Calls that had left before the last lowering tell of the same incident.
      if (lowered !== undefined && slot.atMs < lowered.atMs) return;
      lowered = lowerRate(rate, lowered, nowMs);
      tatMs = Math.max(tatMs, nowMs + pauseAfter429(retryAfterMs));
    },
    counts: () => ({
      granted,
      waitedMs,
      throttled,
      effectiveRate: effectiveRate(rate, lowered, clock.now()),
    }),
  };
}

function checked(options: LocalPaceOptions): LocalPaceOptions {
  const { rate, concurrency, maxWaitMs } = options;
  if (!(rate > 0 && rate < Number.POSITIVE_INFINITY))
    throw new RangeError(`rate: expected a number above 0, got ${rate}`);
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new RangeError(`concurrency: expected a whole number from 1, got ${concurrency}`);
  }
  if (maxWaitMs !== undefined && !(maxWaitMs >= 0)) {
    throw new RangeError(`maxWaitMs: expected a number from 0, got ${maxWaitMs}`);
  }
  return options;
}

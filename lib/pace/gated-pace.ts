import PQueue from 'p-queue';
import { enqueue } from './enqueue.ts';
import { createFairOrder, type FairOrder, type Share } from './fair-order.ts';
import { type SlotSource, waitsTooLong } from './fleet-slots.ts';
import type { Pace, RunOptions, Slot } from './pace.ts';
import { createPreparation } from './preparation.ts';
import { type Clock, type Demand, momentOf, type SlotRequest } from './slots.ts';

export type GateOptions = {
  readonly source: SlotSource;
  readonly inFlight: PQueue;
  readonly maxWaitMs: number;
  readonly clock: Clock;
};

/** A call that prepares for longer is not ready for a slot of the block in which it arrives. */
const SHORT_MS = 50;

/**
 * Calls take their slots one after another in a fair order of their shares, once they have a place in flight. The slot
 * is taken last, so a call that takes long to prepare leaves in a later slot, and never late.
 */
export function createGatedPace({ source, inFlight, maxWaitMs, clock }: GateOptions): Pace {
  const turns = new PQueue({ concurrency: 1 });
  const [placesOrder, turnsOrder] = [createFairOrder(), createFairOrder()];
  const leaving = createLeaving(source);
  const ready = () => turns.size + turns.pending;
  const preparation = createPreparation({ source, clock, ready });
  let arrived = 0;

  const demand = (): Demand => ({
    waiting: preparation.expected() + ready(),
    arrived,
  });

  const refuseLongWait = (calledAtMs: number) => {
    const dueMs = source.dueAtMs(preparation.calls() + ready());
    if (dueMs - calledAtMs > maxWaitMs) throw waitsTooLong({ clock, maxWaitMs }, dueMs);
  };

  return {
    async run<T>(
      call: (slot: Slot) => Promise<T>,
      { signal, prepare, share = 'normal', isAccepted = () => true, operation }: RunOptions<T> = {},
    ) {
      signal?.throwIfAborted();
      if (preparation.leadMs() <= SHORT_MS) arrived += 1;
      const request = { calledAt: momentOf(clock), signal, demand, operation };
      const inPlace = async () => {
        refuseLongWait(request.calledAt());
        if (prepare !== undefined) await preparation.prepare(request, prepare);
        const slot = await takeInTime(turns, request, { source, clock, place: { order: turnsOrder, share } });
        return leaving.run(slot, call, isAccepted);
      };
      return enqueue(inFlight, inPlace, signal, { order: placesOrder, share });
    },
    throttled: leaving.throttled,
    counts: () => source.counts(),
  };
}

/** Runs calls in their slots, and reports to the source how each of them ended. */
function createLeaving(source: SlotSource) {
  const throttledSlots = new WeakSet<Slot>();
  return {
    async run<T>(slot: Slot, call: (slot: Slot) => Promise<T>, isAccepted: (result: T) => boolean) {
      let accepted = false;
      try {
        const result = await call(slot);
        accepted = !throttledSlots.has(slot) && isAccepted(result);
        return result;
      } finally {
        source.ended(slot, accepted);
      }
    },
    throttled(slot: Slot, retryAfterMs?: number) {
      throttledSlots.add(slot);
      return source.throttled(slot, retryAfterMs);
    },
  };
}

type PlaceInOrder = { readonly order: FairOrder; readonly share: Share };

/** Takes a slot in the call's turn, and another one if the process was stopped before the call could leave. */
async function takeInTime(
  turns: PQueue,
  request: SlotRequest,
  { source, clock, place }: Pick<GateOptions, 'source' | 'clock'> & { readonly place: PlaceInOrder },
): Promise<Slot> {
  for (;;) {
    const slot = await enqueue(turns, () => source.take(request), request.signal, place);
    if (clock.now() <= (slot.untilMs ?? Number.POSITIVE_INFINITY)) return slot;
    source.giveBack(slot);
  }
}

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

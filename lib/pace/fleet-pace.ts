import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { sleep } from '../base/index.ts';
import {
  type BudgetItem,
  type BudgetView,
  createBudgetView,
  createMemoryBudget,
  emptyBudget,
  startedAt,
} from './budget.ts';
import { byOperation } from './by-operation.ts';
import { enqueue } from './enqueue.ts';
import { createFairOrder, type FairOrder, type Share } from './fair-order.ts';
import { createFleetSlots, type SlotSource, waitsTooLong } from './fleet-slots.ts';
import type { Pace, RunOptions, Slot } from './pace.ts';
import { createRecentLongest } from './recent-longest.ts';
import { type Clock, type Demand, type Moment, momentOf, type SlotRequest } from './slots.ts';
import { type ClockOff, createFindTime, createTableClock } from './table-clock.ts';

/** Options for the pace of one worker of a fleet. */
type FleetPaceOptions = {
  readonly item: BudgetItem;
  /** Requests a second of the whole fleet; above 0. */
  readonly rate: number;
  /** Up to which rate the fleet may raise its own, while nothing is refused. Default: `rate`. */
  readonly ceiling?: number | undefined;
  /** The most requests in flight at once in this process; a whole number, at least 1. */
  readonly concurrency: number;
  /** The longest that a call waits for its slot, in milliseconds. Default: no limit. */
  readonly maxWaitMs?: number;
  /** `one`, a slot at a time, for callers that can wait and should not be in the way. Default: `block`. */
  readonly greed?: 'one' | 'block';
  /** Called once for each outage of the budget: nothing leaves until it is over. */
  readonly onTableAway?: (cause: unknown) => void;
  readonly onTableBack?: () => void;
  /** Called when the clock of this process is found to be minutes off; the pace follows the table's all the same. */
  readonly onClockOff?: (off: ClockOff) => void;
  /** Called when this worker has set back a line that a wrong clock had moved. */
  readonly onLineSetBack?: () => void;
  /** Epoch milliseconds, corrected by the `Date` of the item's responses if they have one. Default: `Date.now`. */
  readonly now?: () => number;
  /** Milliseconds on a clock that is never set. Default: `performance.now`, unless `now` is given. */
  readonly steady?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The pace of one worker of a fleet. Throws `RangeError` if a limit is invalid. */
export function createFleetPace(options: FleetPaceOptions): Pace {
  checkLimits(options);
  const { item, concurrency, maxWaitMs = Number.POSITIVE_INFINITY, greed = 'block' } = options;
  const clock = createTableClock({
    now: options.now ?? Date.now,
    steady: options.steady ?? (options.now === undefined ? () => performance.now() : undefined),
    sleep: options.sleep ?? sleep,
    onClockOff: options.onClockOff,
  });
  item.onDate?.(clock.saw);
  const setClock = item.onDate && createFindTime({ clock, look: item.read, rest: options.sleep ?? rest });
  const answered = new Map<string, number>();
  const rate = Math.max(options.rate, options.ceiling ?? 0);
  const view = createBudgetView(item, clock, (budget) => startedAt(options.rate, rate, budget, clock.now()));
  const open = (of: BudgetView) => {
    const source = createFleetSlots({
      ...{ view: of, rate, maxWaitMs, greed, clock, setClock, answered: of === view ? answered : undefined },
      onSetBack: options.onLineSetBack,
      onTableAway: options.onTableAway,
      onTableBack: options.onTableBack,
    });
    return createGatedPace({ source, inFlight: new PQueue({ concurrency }), maxWaitMs, clock });
  };
  const fleet = open(view);
  const { of } = item;
  if (of === undefined) return fleet;
  const ownLine = (operation: string) => {
    const own = createBudgetView(of(operation), clock);
    return { line: open(own), view: own };
  };
  return byOperation({ fleet, view, clock, answered, open: ownLine });
}

const rest = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });

/** Options for the pace of one process. */
export type LocalPaceOptions = Pick<
  FleetPaceOptions,
  'rate' | 'ceiling' | 'concurrency' | 'maxWaitMs' | 'sleep'
> & {
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
};

/** The pace of one process: a fleet of one, whose budget lies in its memory. Throws `RangeError` if a limit is invalid. */
export const createLocalPace = (options: LocalPaceOptions): Pace =>
  createFleetPace({
    now: () => performance.now(),
    ...options,
    item: createMemoryBudget({ ...emptyBudget, driftMs: 0 }),
  });

type GateOptions = {
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

function checkLimits(options: {
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
function createPreparation({ source, clock, ready }: PreparationOptions) {
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

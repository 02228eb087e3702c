import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { sleep } from '../base/index.ts';
import {
  type Budget,
  type BudgetItem,
  type BudgetView,
  createBudgetView,
  createMemoryBudget,
  emptyBudget,
  lineFacts,
} from './budget.ts';
import { byOperation } from './by-operation.ts';
import { type AdjustedTime, type Clock, createDecayingMax, trackTime } from './clock.ts';
import { createFairOrder, enqueue } from './fair-queue.ts';
import { createFleetSlots, waitsTooLong } from './fleet-slots.ts';
import { checkLimits, type Pace, type RunOptions, type Slot } from './pace.ts';
import type { Demand, SlotRequest } from './reserve-block.ts';
import { createFindTime, createTableClock } from './table-clock.ts';
import { learnedAt } from './throttle-state.ts';

type SlotSource = ReturnType<typeof createFleetSlots>;

/** Options for the pace of one worker of a fleet. */
type FleetPaceOptions = {
  readonly item: BudgetItem;
  /** Requests a second of the whole fleet; above 0. */
  readonly rate: number;
  /** The rate up to which the fleet may raise its own while the platform refuses no call. Default: `rate`. */
  readonly ceiling?: number | undefined;
  /** The maximum number of requests in flight in this process; a whole number, at least 1. */
  readonly concurrency: number;
  /** The maximum wait of a call for its slot, in milliseconds. Default: no limit. */
  readonly maxWaitMs?: number;
  /** `single` reserves one slot at a time, for callers that can wait. Default: `batch`. */
  readonly reserve?: 'single' | 'batch';
  /** Called once for each outage of the table. No call leaves until the table responds again. */
  readonly onTableUnavailable?: (cause: unknown) => void;
  readonly onTableAvailable?: () => void;
  /**
   * Called when the clock of this process is found to be a minute or more off. The pace uses the table's clock anyway.
   */
  readonly onClockOff?: Parameters<typeof createTableClock>[0]['onClockOff'];
  /** Called when this worker has set back a line that a wrong clock had moved into the future. */
  readonly onLineSetBack?: () => void;
  /** Epoch milliseconds, corrected by the `Date` of the item's responses if they have one. Default: `Date.now`. */
  readonly now?: () => number;
  /** Milliseconds on a steady clock. Default: `performance.now`; if `now` is set, `now`. */
  readonly steady?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** If no limit has been learned yet, adds to the budget that the fleet starts at `rate` and may rise to `ceiling`. */
function startedAt(rate: number, ceiling: number, budget: Budget, nowMs: number): Budget {
  if (budget.throttle !== undefined || rate >= ceiling) return budget;
  return { ...budget, throttle: learnedAt(rate, lineFacts(ceiling, budget, nowMs)) };
}

/** Creates the pace of one worker of a fleet. Throws `RangeError` if a limit is invalid. */
export function createFleetPace(options: FleetPaceOptions): Pace {
  checkLimits(options);
  const { item, concurrency, maxWaitMs = Number.POSITIVE_INFINITY, reserve = 'batch' } = options;
  const clock = createTableClock({
    now: options.now ?? Date.now,
    steady: options.steady ?? (options.now === undefined ? () => performance.now() : undefined),
    sleep: options.sleep ?? sleep,
    onClockOff: options.onClockOff,
  });
  item.onDate?.(clock.saw);
  const setClock =
    item.onDate &&
    createFindTime({
      clock,
      read: item.read,
      backgroundSleep: options.sleep ?? backgroundSleep,
    });
  const answered = new Map<string, number>();
  const rate = Math.max(options.rate, options.ceiling ?? 0);
  const view = createBudgetView(item, clock, (budget) => startedAt(options.rate, rate, budget, clock.now()));
  const open = (of: BudgetView) => {
    const source = createFleetSlots({
      view: of,
      rate,
      maxWaitMs,
      reserve,
      clock,
      setClock,
      answered: of === view ? answered : undefined,
      onSetBack: options.onLineSetBack,
      onTableUnavailable: options.onTableUnavailable,
      onTableAvailable: options.onTableAvailable,
    });
    return createGatedPace({ source, concurrency, maxWaitMs, clock });
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

/** A sleep that does not keep the process alive. */
const backgroundSleep = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });

/** Options for the pace of one process; units and defaults as in `FleetPaceOptions`. */
export type LocalPaceOptions = Pick<
  FleetPaceOptions,
  'rate' | 'ceiling' | 'concurrency' | 'maxWaitMs' | 'sleep'
> & {
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
};

/**
 * Creates the pace of one process: a fleet of one, with its budget in memory. Throws `RangeError` if a limit
 * is invalid.
 */
export const createProcessPace = (options: LocalPaceOptions): Pace =>
  createFleetPace({
    now: () => performance.now(),
    ...options,
    item: createMemoryBudget({ ...emptyBudget, driftMs: 0 }),
  });

/** If preparations take longer than this, in milliseconds, a call uses the next reserved block of slots, not the current one. */
const SHORT_MS = 50;

/**
 * Creates a pace in which calls that hold a concurrency slot take slots of the line one after another, in the fair
 * order of their priorities. A call takes its slot only after it has been prepared. So a call that takes long to
 * prepare uses a later slot, and never leaves too late for its slot.
 */
export function createGatedPace(given: {
  readonly source: SlotSource;
  /** The maximum number of calls in flight. */
  readonly concurrency: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
}): Pace {
  const { source, concurrency, maxWaitMs, clock } = given;
  const inFlight = new PQueue({ concurrency });
  const turns = new PQueue({ concurrency: 1 });
  const inFlightOrder = createFairOrder();
  const turnsOrder = createFairOrder();
  const dispatcher = createDispatcher(source);
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
      { signal, prepare, priority = 'normal', isAccepted = () => true, operation }: RunOptions<T> = {},
    ) {
      signal?.throwIfAborted();
      if (preparation.leadMs() <= SHORT_MS) arrived += 1;
      const request = { calledAt: trackTime(clock), signal, demand, operation };
      const callInFlight = async () => {
        refuseLongWait(request.calledAt());
        if (prepare !== undefined) await preparation.prepare(request, prepare);
        const slot = await takeInTime(turns, request, {
          source,
          clock,
          entry: { order: turnsOrder, priority },
        });
        return dispatcher.run(slot, call, isAccepted);
      };
      return enqueue(inFlight, callInFlight, signal, { order: inFlightOrder, priority });
    },
    throttled: dispatcher.throttled,
    counts: () => source.counts(),
  };
}

/** Creates a dispatcher, which runs calls in their slots, and reports to the source how each call ended. */
function createDispatcher(source: SlotSource) {
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

/**
 * Takes a slot when it is the call's turn. If the process was suspended until that slot had passed, takes another one.
 */
async function takeInTime(
  turns: PQueue,
  request: SlotRequest,
  given: {
    readonly source: SlotSource;
    readonly clock: Clock;
    readonly entry: NonNullable<Parameters<typeof enqueue>[3]>;
  },
): Promise<Slot> {
  const { source, clock, entry } = given;
  for (;;) {
    const slot = await enqueue(turns, () => source.take(request), request.signal, entry);
    if (clock.now() <= (slot.untilMs ?? Number.POSITIVE_INFINITY)) return slot;
    source.giveBack(slot);
  }
}

/** A preparation counts as late if it takes this much longer than recent ones, in milliseconds. */
const LATE_MS = 5;

/** A preparation counts as late after this time, in milliseconds, if no preparation has been measured yet. */
const FIRST_LATE_MS = 250;

/**
 * Prepares calls just in time for their slots: a preparation starts as long before the slot as recent preparations
 * took. If it started earlier, a crash would leave more calls that are recorded as sent but were not sent. If a
 * preparation takes longer, the next call takes the slot.
 */
function createPreparation(given: {
  readonly source: SlotSource;
  readonly clock: Clock;
  /** The number of calls that are prepared and wait for their slot. */
  readonly ready: () => number;
}) {
  const { source, clock, ready } = given;
  const waitingForStart = new PQueue({ concurrency: 1 });
  const longest = createDecayingMax();
  let isMeasured = false;
  const started = new Map<SlotRequest, AdjustedTime>();

  const ahead = () => {
    const lateAfterMs = isMeasured ? longest.ms() + LATE_MS : FIRST_LATE_MS;
    const leftMs = [...started.values()].map((at) => at() + lateAfterMs - clock.now());
    const punctual = leftMs.filter((ms) => ms > 0);
    return { calls: ready() + punctual.length, forMs: Math.max(1, Math.min(...punctual)) };
  };

  const calls = () => waitingForStart.size + waitingForStart.pending + started.size;

  return {
    /** Waits until it is time to prepare the call, and runs `act`. Rethrows errors of `act`. */
    async prepare(request: SlotRequest, act: () => Promise<void>): Promise<void> {
      const start = async () => {
        await source.waitUntilDue({ ...request, ahead, leadMs: longest.ms });
        // Added before this task ends, so that the next call counts this call as ahead.
        started.set(request, trackTime(clock));
      };
      await enqueue(waitingForStart, start, request.signal);
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
    /** The number of calls that are not ready yet. */
    calls,
    /** How many of these calls will be ready soon: at most one, until the first preparation shows how long it takes. */
    expected: () => (isMeasured ? calls() : Math.min(1, calls())),
    leadMs: longest.ms,
  };
}

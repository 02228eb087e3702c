import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { sleep } from '../base/index.ts';
import { type BudgetItem, createMemoryBudget, emptyBudget, startedAt } from './budget.ts';
import { type BudgetView, createBudgetView } from './budget-view.ts';
import { byOperation } from './by-operation.ts';
import { createFleetSlots } from './fleet-slots.ts';
import { checkLimits, createGatedPace } from './gated-pace.ts';
import type { Pace } from './pace.ts';
import { type ClockOff, createFindTime, createTableClock } from './table-clock.ts';

/** Options for the pace of one worker of a fleet. */
export type FleetPaceOptions = {
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

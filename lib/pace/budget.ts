import type { OnDate } from '../table/index.ts';
import { type AdjustedTime, type Clock, createDecayingMax, trackTime } from './clock.ts';
import { isProbing, latestMs, rateOf, refused, reopened } from './throttle-state.ts';

/*
 * The budget of a fleet: one line of slots, shared by all workers that call the same platform host. The line
 * is reserved up to one time (the theoretical arrival time). That time only moves forward, by conditional writes. So no
 * slot is used twice, even if clocks differ: in one second of the platform's time, at most the slots of one second
 * plus the difference between the clocks are used.
 *
 * No worker starves: a reservation goes to the end of the line, and a worker reserves at most one block of slots, 250 ms
 * long, at a time.
 */

/** The content of the budget's row. Times are epoch milliseconds. */
export type Budget = {
  /** Slots are reserved up to this time, the "theoretical arrival time". */
  readonly tatMs?: number | undefined;
  /** The number of 429s and resets of the line so far. Slots that were reserved at a lower number are void. */
  readonly incidents: number;
  /** What has been learned about the platform's limit. Every worker computes the rate from it. */
  readonly throttle?: NonNullable<Parameters<typeof rateOf>[0]> | undefined;
  /** When each operation was last accepted and refused. */
  readonly operations?: Readonly<Record<string, OperationNews>> | undefined;
  readonly pausedAtMs?: number | undefined;
  /** The configured rate of the worker that reserved last. */
  readonly rate?: number | undefined;
  readonly breaker?: OpenBreaker | undefined;
  /** Since when the platform has refused the token; undefined if it accepts the token. */
  readonly tokenRefusedAtMs?: number | undefined;
  /** The longest maximum wait of any process, in milliseconds; undefined before the first reservation. */
  readonly longestWaitMs?: number | undefined;
  /** When a process with that maximum wait last reported it, in epoch milliseconds. */
  readonly longestWaitAtMs?: number | undefined;
  /** The fleet's rate as set by an operator. It applies if it is below the configured rate. */
  readonly capRate?: number | undefined;
  /** How much the delays of the workers' calls may differ, in milliseconds. Default: `MACHINES_DRIFT_MS`. */
  readonly driftMs?: number | undefined;
  /** Sums over all workers, for display. They include what a worker did before its last reservation. */
  readonly tally: PaceUsage;
};

/** When an operation's calls were last accepted and refused, in epoch milliseconds. */
export type OperationNews = {
  /** When the last accepted call was sent. */
  readonly answeredAtMs?: number | undefined;
  readonly refusedAtMs?: number | undefined;
  /** Since when only this operation is throttled; absent if it is not. Its calls first wait in a separate line. */
  readonly aloneSinceMs?: number | undefined;
};

/** The breaker's state while it is open. Times are epoch milliseconds. */
export type OpenBreaker = {
  /** When the first failed call of the outage ended. */
  readonly sinceMs: number;
  readonly cause: string;
  /** When the next probe is due. */
  readonly probeAtMs: number;
};

/** Where a fleet's budget is stored. Throws `TableError` if the table is unavailable; a change may have been stored. */
export type BudgetItem = {
  /** Reads the budget. It includes every change whose write has returned. */
  read(): Promise<Budget>;
  /**
   * Stores the budget that `next` returns, and returns it; if `next` returns undefined, stores nothing. If another
   * process wrote first, calls `next` again. `act`: what the change does, for errors.
   */
  change(act: string, next: ChangeBudget): Promise<Budget | undefined>;
  readonly onDate?: OnDate | undefined;
  /** The budget of one operation's separate line. Absent: operations have no separate lines. */
  readonly of?: ((operation: string) => BudgetItem) | undefined;
};

/** Returns the budget to store, or undefined to store nothing. */
type ChangeBudget = (budget: Budget) => Budget | undefined;

const noUsage: PaceUsage = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0 };

/** The budget of a host to which no request has been sent yet. */
export const emptyBudget: Budget = { incidents: 0, tally: noUsage };

/** A budget in this process's memory. */
export function createMemoryBudget(start = emptyBudget): BudgetItem {
  let budget = start;
  return {
    read: async () => budget,
    async change(_, change) {
      const next = change(budget);
      budget = next ?? budget;
      return next;
    },
    of: () => createMemoryBudget({ ...emptyBudget, driftMs: start.driftMs }),
  };
}

/**
 * Adds the times at which this worker's operations were last accepted. Returns the same budget if it already has these
 * times to within a second.
 */
export function withAnswered(budget: Budget, answered: ReadonlyMap<string, number>): Budget {
  const { operations = {} } = budget;
  const isNew = ([name, atMs]: [string, number]) => atMs >= (operations[name]?.answeredAtMs ?? 0) + 1_000;
  const news = [...answered].filter(isNew);
  if (news.length === 0) return budget;
  const updated = news.map(([name, answeredAtMs]) => [name, { ...operations[name], answeredAtMs }] as const);
  return { ...budget, operations: { ...operations, ...Object.fromEntries(updated) } };
}

/**
 * Removes everything that was learned from throttling: the line starts again at `fromMs`, and all reserved slots
 * are void.
 */
export const resetBudget = (budget: Budget, fromMs: number): Budget => ({
  ...budget,
  operations: undefined,
  tatMs: fromMs,
  throttle: undefined,
  incidents: budget.incidents + 1,
});

/** The maximum length of one reserved block of slots, in milliseconds: this much of the line is lost when a worker dies. */
export const BLOCK_MS = 250;

/**
 * How late a slot may be used, in milliseconds; the spacing allows for this. A call that left later would be too close
 * to the calls after it.
 */
export const LATE_MS = 10;

/**
 * How many milliseconds more the delays of requests may differ between machines than on one machine. The spacing also
 * allows for this.
 */
const MACHINES_DRIFT_MS = 10;

/** The lower of a worker's configured rate and the rate that an operator has set. */
export const cappedRate = (rate: number, { capRate }: Budget): number => Math.min(rate, capRate ?? rate);

/** A time that is further ahead than this, in milliseconds, was written by a wrong clock: no probe is due so late. */
const WRONG_CLOCK_MS = 60_000;

/** The maximum wait that is reported for callers without a limit, in milliseconds. */
const UNLIMITED_MS = 1_200_000;

/** Milliseconds after which the process with the longest maximum wait repeats its report. */
const REPEATED_MS = 30_000;

/** The reported maximum wait, in milliseconds; 0 after every slot that was reserved with it has passed. */
const longestWait = ({ longestWaitMs = 0, longestWaitAtMs = 0 }: Budget, nowMs: number): number =>
  Math.abs(nowMs - longestWaitAtMs) <= longestWaitMs + WRONG_CLOCK_MS ? longestWaitMs : 0;

/**
 * The latest end of the line that reservations can explain: no call may wait longer. A later end is due to a wrong
 * clock.
 */
export const latestLineMs = (budget: Budget, maxWaitMs: number, nowMs: number): number =>
  nowMs + Math.max(longestWait(budget, nowMs), Math.min(maxWaitMs, UNLIMITED_MS)) + WRONG_CLOCK_MS;

/** The fields that report this process's maximum wait; empty if the same or a longer wait was reported recently. */
export function maxWaitReport(budget: Budget, maxWaitMs: number, nowMs: number): Partial<Budget> {
  const waitMs = Math.min(maxWaitMs, UNLIMITED_MS);
  const longestMs = longestWait(budget, nowMs);
  const isOld = Math.abs(nowMs - (budget.longestWaitAtMs ?? 0)) > REPEATED_MS;
  const isReported = waitMs < longestMs || (waitMs === longestMs && !isOld);
  return isReported ? {} : { longestWaitMs: waitMs, longestWaitAtMs: nowMs };
}

/**
 * Repairs a budget in which a wrong clock wrote future times: removes the throttling, and marks the end of the line as
 * wrong (`Infinity`), so that the next reservation sets it back.
 */
function withoutFutureTimes(budget: Budget, nowMs: number): Budget {
  const { throttle } = budget;
  if (throttle === undefined || latestMs(throttle) <= nowMs + WRONG_CLOCK_MS) return budget;
  return { ...budget, throttle: undefined, tatMs: Number.POSITIVE_INFINITY };
}

/** The facts that the functions of `throttle-state.ts` need. `rate`: the worker's configured rate. */
export const lineFacts = (rate: number, budget: Budget, nowMs: number): Parameters<typeof rateOf>[1] => ({
  cap: cappedRate(rate, budget),
  nowMs,
  granted: budget.tally.granted,
});

/** Requests a second that the fleet may send now. */
export const effectiveRate = (rate: number, budget: Budget, nowMs: number): number =>
  rateOf(budget.throttle, lineFacts(rate, budget, nowMs));

/** Maximum distance between two slots: this many milliseconds or, if longer, this many slots of the full rate. */
const MAX_STEP_MS = 10_000;
const MAX_STEP_SLOTS = 12;

/** How the slots of the line are spaced at its present rate. */
export function lineSpacing(rate: number, budget: Budget, nowMs: number): Spacing {
  const spacing = spacingFor(effectiveRate(rate, budget, nowMs), allowanceMs(budget));
  const maxMs = Math.max(MAX_STEP_MS, (MAX_STEP_SLOTS * 1_000) / cappedRate(rate, budget));
  return { ...spacing, intervalMs: Math.min(spacing.intervalMs, maxMs) };
}

/** When the next slot starts, in epoch milliseconds; undefined means now. */
export function lineStartMs(
  budget: Budget,
  { maxWaitMs, nowMs }: { readonly maxWaitMs: number; readonly nowMs: number },
): number | undefined {
  const { tatMs, throttle } = budget;
  if (isProbing(throttle)) return throttle.nextMs;
  if (tatMs === undefined) return undefined;
  return tatMs > latestLineMs(budget, maxWaitMs, nowMs) ? undefined : tatMs;
}

/** How slots are spaced at the full rate. */
export const fullSpacing = (rate: number, budget: Budget): Spacing =>
  spacingFor(cappedRate(rate, budget), allowanceMs(budget));

/** The lateness and the difference between delays for which the spacing allows, in milliseconds. */
const allowanceMs = ({ driftMs = MACHINES_DRIFT_MS }: Budget): number => LATE_MS + driftMs;

/** The budget after a 429 for a call that was sent after the last 429. Slots that are not due yet become void. */
export function afterRefusal(
  budget: Budget,
  refusal: {
    readonly rate: number;
    readonly nowMs: number;
    readonly retryAfterMs: number | undefined;
    /** Whether a call is known to have succeeded since the last 429. */
    readonly hasSucceeded: boolean;
  },
): Budget {
  const { rate, nowMs, retryAfterMs, hasSucceeded } = refusal;
  const { throttle, tatMs = nowMs, tally } = budget;
  const { intervalMs } = lineSpacing(rate, budget, nowMs);
  const facts = lineFacts(rate, budget, nowMs);
  const before = hasSucceeded && isProbing(throttle) ? reopened(throttle, facts) : throttle;
  const granted = tally.granted - Math.max(0, Math.floor((tatMs - nowMs) / intervalMs)) - 1;
  const after = refused(before, { ...facts, granted, retryAfterMs });
  return { ...budget, throttle: after, incidents: budget.incidents + 1 };
}

/*
 * The generic cell rate algorithm (ITU-T I.371): one number, the theoretical arrival time (TAT), says when the next
 * call is due. A call may leave from `tat - tolerance` on, and then advances the TAT by one interval.
 */

/** How calls are spaced, in milliseconds. */
type Spacing = {
  readonly intervalMs: number;
  /** How early a call may leave: without this, one late call would delay all calls after it. */
  readonly toleranceMs: number;
};

/**
 * A call that leaves at most this late, in milliseconds, does not delay later calls, since timers are a little
 * late.
 */
const TOLERANCE_MS = 5;

/** How much the delays of two requests to the platform may differ, in milliseconds. */
const DRIFT_MS = 5;

/**
 * The spacing for a rate in requests a second: no sliding second, here or at the platform, has more than `k =
 * ceil(rate)` requests. To achieve that, k + 1 requests, which span at least `k × interval − tolerance`, must span a
 * second plus the drift and `lateMs`. For a whole number, this costs 2 % of the rate for one process, and 3 % for a
 * fleet.
 */
function spacingFor(rate: number, lateMs = 0): Spacing {
  const max = Math.ceil(rate);
  const intervalMs = Math.max(1000 / rate, (1000 + TOLERANCE_MS + DRIFT_MS + lateMs) / max);
  return { intervalMs, toleranceMs: Math.min(TOLERANCE_MS, intervalMs / 2) };
}

/** Sums over what workers did, with the fields of `PaceCounts`. */
type PaceUsage = {
  readonly granted: number;
  readonly used: number;
  readonly wasted: number;
  readonly waitedMs: number;
  readonly throttled: number;
};

/** The sum of `a` and `times` times `b`. */
export const addUsage = (a: PaceUsage, b: PaceUsage, times = 1): PaceUsage => ({
  granted: a.granted + times * b.granted,
  used: a.used + times * b.used,
  wasted: a.wasted + times * b.wasted,
  waitedMs: a.waitedMs + times * b.waitedMs,
  throttled: a.throttled + times * b.throttled,
});

/** Counts what one worker does, and how much of that it has reported to the budget. */
export function createUsageReporter() {
  let counted = noUsage;
  let reported = noUsage;
  return {
    add(some: Partial<PaceUsage>): void {
      counted = addUsage(counted, { ...noUsage, ...some });
    },
    counted: (): PaceUsage => counted,
    /** The usage to report with the next write, if that write grants this many slots. */
    reportOf: (granted: number): PaceUsage => ({ ...addUsage(counted, reported, -1), granted }),
    reported(report: PaceUsage): void {
      reported = addUsage(reported, report);
      counted = { ...counted, granted: reported.granted };
    },
  };
}

/**
 * Creates a worker's view of the budget: the budget as last read or written, without future times of a wrong clock.
 * `started` adds what applies before a limit has been learned. Rethrows errors of the item.
 */
export function createBudgetView(
  item: BudgetItem,
  clock: Clock,
  started: (budget: Budget) => Budget = (budget) => budget,
) {
  let last: Budget | undefined;
  let lastAt: AdjustedTime = () => Number.NEGATIVE_INFINITY;
  const lead = createDecayingMax();

  // `at` follows the clock, since the response itself may have corrected the clock.
  const saw = (budget: Budget, at: AdjustedTime): Budget => {
    last = started(withoutFutureTimes(budget, clock.now()));
    lastAt = at;
    return last;
  };
  const read = async () => {
    const at = trackTime(clock);
    const budget = await item.read();
    lead.add(clock.now() - at());
    return saw(budget, at);
  };

  return {
    /** The budget as last seen; if it was never seen, reads it. */
    known: async () => last ?? read(),
    /** The budget as last seen; undefined if it was never seen. Never reads. */
    last: () => last,
    /** Milliseconds since the last view was requested. */
    ageMs: () => clock.now() - lastAt(),
    /** The longest recent response time of the item, in milliseconds. */
    leadMs: lead.ms,
    /** Reads the budget. */
    read,
    async change(act: string, next: ChangeBudget): Promise<Budget | undefined> {
      let at = trackTime(clock);
      const changed = await item.change(act, (budget) => {
        at = trackTime(clock);
        const after = next(saw(budget, at));
        // If a wrong clock moved the line ahead, only a reservation sets it back. Any other change stores the line
        // unchanged.
        if (after?.tatMs !== Number.POSITIVE_INFINITY) return after;
        return { ...after, tatMs: budget.tatMs, throttle: budget.throttle };
      });
      if (changed === undefined) return undefined;
      lead.add(clock.now() - at());
      return saw(changed, at);
    },
  };
}

export type BudgetView = ReturnType<typeof createBudgetView>;

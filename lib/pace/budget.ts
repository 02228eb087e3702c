import type { OnDate } from '../table/index.ts';
import { type AdjustedTime, type Clock, createDecayingMax, trackTime } from './clock.ts';
import { isProbing, latestMs, rateOf, refused, reopened, type ThrottleState } from './throttle-state.ts';

/*
 * The budget of a fleet: one line of slots that all workers calling the same platform host share. The time up to which
 * it is reserved (the theoretical arrival time) only moves forward, by the worker whose write arrives first. So no slot
 * is given out twice, however much clocks differ: a second of the platform's time holds no more of the line than a
 * second plus the difference between the clocks.
 *
 * No worker starves: a reservation goes to the end of the line, and a worker has at most one block of 250 ms in it.
 */

/** The budget as its row holds it. Times are epoch milliseconds. */
export type Budget = {
  /** Slots are reserved up to this time. */
  readonly tatMs?: number | undefined;
  /** 429s that the line has met, and resets. Slots that were reserved at a lower count are void. */
  readonly incidents: number;
  /** What is known of the platform's limit. Every worker computes the rate from it. */
  readonly throttle?: ThrottleState | undefined;
  /** When each operation was last accepted and refused. */
  readonly operations?: Readonly<Record<string, OperationNews>> | undefined;
  readonly pausedAtMs?: number | undefined;
  /** The configured rate of the worker that reserved last. */
  readonly rate?: number | undefined;
  readonly breaker?: OpenBreaker | undefined;
  /** When the platform first refused the token; undefined once it has accepted it again. */
  readonly tokenRefusedAtMs?: number | undefined;
  /** The maximum wait of any process, in milliseconds; undefined before the first reservation. */
  readonly longestWaitMs?: number | undefined;
  /** When a process with that maximum wait last reported it. */
  readonly longestWaitAtMs?: number | undefined;
  /** The fleet's rate as set by an operator; it applies where it is below the configured one. */
  readonly capRate?: number | undefined;
  /** How much the calls of its workers may drift apart, in milliseconds. Absent: as those of different machines. */
  readonly driftMs?: number | undefined;
  /** Sums over all workers, for display. What a worker did since its last reservation is missing. */
  readonly tally: PaceUsage;
};

/** When an operation's calls were last accepted and refused, in epoch milliseconds. */
export type OperationNews = {
  /** When the last call left that was accepted. */
  readonly answeredAtMs?: number | undefined;
  readonly refusedAtMs?: number | undefined;
  /** Since when it is throttled while others are accepted: its calls first wait in a separate line. */
  readonly aloneSinceMs?: number | undefined;
};

/** The breaker's state while it is open. Times are epoch milliseconds. */
export type OpenBreaker = {
  /** When the first of the failures in a row ended. */
  readonly sinceMs: number;
  readonly cause: string;
  /** When the next probe is due. */
  readonly probeAtMs: number;
};

/** Where a fleet's budget is stored. Throws `TableError` if the table is unavailable; a change may have been stored. */
export type BudgetItem = {
  /** Reads the budget. It contains every change whose write got a response. */
  read(): Promise<Budget>;
  /** Undefined, and nothing stored, if `next` returns undefined. `next` is called again if another process wrote first. */
  change(act: string, next: ChangeBudget): Promise<Budget | undefined>;
  readonly onDate?: OnDate | undefined;
  /** The budget of one operation's separate line. Absent: operations have none. */
  readonly of?: ((operation: string) => BudgetItem) | undefined;
};

/** Returns the budget to store, or undefined to leave it as it is. */
export type ChangeBudget = (budget: Budget) => Budget | undefined;

const noUsage: PaceUsage = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0 };

/** The budget of a host to which nothing was ever sent. */
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

/** The budget with a worker's accepted operations; the same if the fleet knows of them to within a second. */
export function withAnswered(budget: Budget, answered: ReadonlyMap<string, number>): Budget {
  const { operations = {} } = budget;
  const isNew = ([name, atMs]: [string, number]) => atMs >= (operations[name]?.answeredAtMs ?? 0) + 1_000;
  const news = [...answered].filter(isNew);
  if (news.length === 0) return budget;
  const heard = news.map(([name, answeredAtMs]) => [name, { ...operations[name], answeredAtMs }] as const);
  return { ...budget, operations: { ...operations, ...Object.fromEntries(heard) } };
}

/** Forgets all throttling: the line begins again at `fromMs`, and slots that were reserved before are void. */
export const resetBudget = (budget: Budget, fromMs: number): Budget => ({
  ...budget,
  operations: undefined,
  tatMs: fromMs,
  throttle: undefined,
  incidents: budget.incidents + 1,
});

/** The maximum length of one block, in milliseconds: what is lost when a worker dies. */
export const BLOCK_MS = 250;

/** How long after its time a slot may be used: the spacing pays for it. Later calls would bunch with the next ones. */
export const LATE_MS = 10;

/** How much more the requests of different machines may drift apart than those of one. The spacing pays for it too. */
const MACHINES_DRIFT_MS = 10;

/** The lower of a worker's configured rate and the rate that an operator has set. */
export const cappedRate = (rate: number, { capRate }: Budget): number => Math.min(rate, capRate ?? rate);

/** Only a wrong clock writes a time that is further ahead than this, in milliseconds: probes leave sooner. */
const WRONG_CLOCK_MS = 60_000;

/** How far ahead the line of callers without a maximum wait may reach, in milliseconds. */
const UNLIMITED_MS = 1_200_000;

/** How often the process with the maximum wait repeats its report. */
const REPEATED_MS = 30_000;

/** The reported maximum wait; 0 once everything that was reserved by then is over. */
const longestWait = ({ longestWaitMs = 0, longestWaitAtMs = 0 }: Budget, nowMs: number): number =>
  Math.abs(nowMs - longestWaitAtMs) <= longestWaitMs + WRONG_CLOCK_MS ? longestWaitMs : 0;

/** The latest end of the line that reservations explain: no call is granted a longer wait. */
export const latestLineMs = (budget: Budget, maxWaitMs: number, nowMs: number): number =>
  nowMs + Math.max(longestWait(budget, nowMs), Math.min(maxWaitMs, UNLIMITED_MS)) + WRONG_CLOCK_MS;

/** The members that report this process's maximum wait; none if a longer one, or this one, was reported recently. */
export function longerWait(budget: Budget, maxWaitMs: number, nowMs: number): Partial<Budget> {
  const waitMs = Math.min(maxWaitMs, UNLIMITED_MS);
  const longestMs = longestWait(budget, nowMs);
  const isOld = Math.abs(nowMs - (budget.longestWaitAtMs ?? 0)) > REPEATED_MS;
  const isReported = waitMs < longestMs || (waitMs === longestMs && !isOld);
  return isReported ? {} : { longestWaitMs: waitMs, longestWaitAtMs: nowMs };
}

/** The budget; without throttling, and with a line that reservations cannot explain, if a wrong clock wrote to it. */
function withoutFutureTimes(budget: Budget, nowMs: number): Budget {
  const { throttle } = budget;
  if (throttle === undefined || latestMs(throttle) <= nowMs + WRONG_CLOCK_MS) return budget;
  return { ...budget, throttle: undefined, tatMs: Number.POSITIVE_INFINITY };
}

/** The facts from which the line's throttling is computed, for a worker that may use at most `rate`. */
export const lineFacts = (rate: number, budget: Budget, nowMs: number): Parameters<typeof rateOf>[1] => ({
  cap: cappedRate(rate, budget),
  nowMs,
  granted: budget.tally.granted,
});

/** Requests a second that the fleet may send now. */
export const effectiveRate = (rate: number, budget: Budget, nowMs: number): number =>
  rateOf(budget.throttle, lineFacts(rate, budget, nowMs));

/** One slot moves the line by no more than this many milliseconds, or slots of the full rate. */
const MAX_STEP_MS = 10_000;
const MAX_STEP_SLOTS = 12;

/** How the slots of the line are spaced at its present rate. */
export function lineSpacing(rate: number, budget: Budget, nowMs: number): Spacing {
  const spacing = spacingFor(effectiveRate(rate, budget, nowMs), paidMs(budget));
  const maxMs = Math.max(MAX_STEP_MS, (MAX_STEP_SLOTS * 1_000) / cappedRate(rate, budget));
  return { ...spacing, intervalMs: Math.min(spacing.intervalMs, maxMs) };
}

/** When the next slot starts, in epoch milliseconds; undefined: now. */
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
  spacingFor(cappedRate(rate, budget), paidMs(budget));

const paidMs = ({ driftMs = MACHINES_DRIFT_MS }: Budget): number => LATE_MS + driftMs;

/** The budget after a 429 of a call that left after the last one. Slots that were not due yet are void. */
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
  /** How early a call may leave: without it, one late call would delay all that follow. */
  readonly toleranceMs: number;
};

/** How much of a timer's lateness is made up for; any more is lost. */
const TOLERANCE_MS = 5;

/** How far two requests may drift apart or together on their way to the platform. */
const DRIFT_MS = 5;

/**
 * The spacing for a rate in requests a second, such that no sliding second, at either end of the wire, holds more than
 * `k = ceil(rate)` requests: k + 1 of them span at least `k × interval − tolerance`, so that is stretched to a second
 * plus the drift and `lateMs`: of a whole number, this costs 2 % for one process, and 3 % for a fleet.
 */
export function spacingFor(rate: number, lateMs = 0): Spacing {
  const most = Math.ceil(rate);
  const intervalMs = Math.max(1000 / rate, (1000 + TOLERANCE_MS + DRIFT_MS + lateMs) / most);
  return { intervalMs, toleranceMs: Math.min(TOLERANCE_MS, intervalMs / 2) };
}

/** When a call may leave whose slot is at `tatMs`. */
export function dueAtMs(tatMs: number, { toleranceMs }: Spacing): number {
  return tatMs - toleranceMs;
}

/** What workers did; each member as in `PaceCounts`. */
type PaceUsage = {
  readonly granted: number;
  readonly used: number;
  readonly wasted: number;
  readonly waitedMs: number;
  readonly throttled: number;
};

/** The sum of two, the second one `times` over. */
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
    /** What the next write reports, if it grants this many slots. */
    reportOf: (granted: number): PaceUsage => ({ ...addUsage(counted, reported, -1), granted }),
    reported(report: PaceUsage): void {
      reported = addUsage(reported, report);
      counted = { ...counted, granted: reported.granted };
    },
  };
}

/**
 * A worker's view of the budget: as last read or written, without times that a wrong clock wrote, then through
 * `started`. Rethrows errors of the item.
 */
export function createBudgetView(
  item: BudgetItem,
  clock: Clock,
  started: (budget: Budget) => Budget = (budget) => budget,
) {
  let last: Budget | undefined;
  let lastAt: AdjustedTime = () => Number.NEGATIVE_INFINITY;
  const lead = createDecayingMax();

  // A response may have set the clock.
  const saw = (budget: Budget, at: AdjustedTime): Budget => {
    last = started(withoutFutureTimes(budget, clock.now()));
    lastAt = at;
    return last;
  };
  const look = async () => {
    const at = trackTime(clock);
    const budget = await item.read();
    lead.add(clock.now() - at());
    return saw(budget, at);
  };

  return {
    /** The budget as last seen; read if it was never seen. */
    known: async () => last ?? look(),
    /** The budget as last seen, without reading it; undefined before that. */
    last: () => last,
    /** Milliseconds since the last view was requested. */
    ageMs: () => clock.now() - lastAt(),
    /** The longest recent response time of the item, in milliseconds. */
    leadMs: lead.ms,
    /** Reads the budget. */
    look,
    async change(act: string, next: ChangeBudget): Promise<Budget | undefined> {
      let at = trackTime(clock);
      const changed = await item.change(act, (budget) => {
        at = trackTime(clock);
        const after = next(saw(budget, at));
        // A line with a future time is set back only by a reservation. Every other change leaves it as stored.
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

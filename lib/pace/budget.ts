/*
 * The generic cell rate algorithm (ITU-T I.371): one number, the theoretical arrival time (TAT), says when the next
 * call is due. A call may leave from `tat - tolerance` on, and then advances the TAT by one interval.
 */

/** How calls are spaced, in milliseconds. */

import type { OnDate } from '../table/index.ts';
import { createRecentLongest } from './recent-longest.ts';
import { type Clock, type Moment, momentOf } from './slots.ts';
import {
  isProbing,
  type LineFacts,
  latestMs,
  learnedAt,
  rateOf,
  refused,
  reopened,
  type ThrottleState,
} from './throttle-state.ts';

export type BudgetView = ReturnType<typeof createBudgetView>;

/**
 * What a worker last saw of the budget, without what a wrong clock has written, and as `started` makes it. Throws what
 * the item throws.
 */
export function createBudgetView(
  item: BudgetItem,
  clock: Clock,
  started: (budget: Budget) => Budget = (budget) => budget,
) {
  let last: Budget | undefined;
  let lastAt: Moment = () => Number.NEGATIVE_INFINITY;
  const lead = createRecentLongest();

  // A response may have set the clock.
  const saw = (budget: Budget, at: Moment): Budget => {
    last = started(believable(budget, clock.now()));
    lastAt = at;
    return last;
  };
  const look = async () => {
    const at = momentOf(clock);
    const budget = await item.read();
    lead.add(clock.now() - at());
    return saw(budget, at);
  };

  return {
    /** The budget as last seen; read if it has never been seen. */
    known: async () => last ?? look(),
    last: () => last,
    /** Milliseconds since what was last seen was requested. */
    ageMs: () => clock.now() - lastAt(),
    /** The longest that a response has taken recently, in milliseconds. */
    leadMs: lead.ms,
    look,
    async change(act: string, next: ChangeBudget): Promise<Budget | undefined> {
      let at = momentOf(clock);
      const changed = await item.change(act, (budget) => {
        at = momentOf(clock);
        const after = next(saw(budget, at));
        // A line that is not believed is set back by who reserves slots of it: by all else it stays as it is.
        if (after?.tatMs !== Number.POSITIVE_INFINITY) return after;
        return { ...after, tatMs: budget.tatMs, throttle: budget.throttle };
      });
      if (changed === undefined) return undefined;
      lead.add(clock.now() - at());
      return saw(changed, at);
    },
  };
}

/*
 * The budget of a fleet: one line of slots that all workers calling the same platform host share. The time up to which
 * it is reserved (the theoretical arrival time) only moves forward, by the worker whose write arrives first. So no slot
 * is given out twice, however much clocks differ: a second of the platform's time holds no more of the line than a
 * second plus the difference between the clocks.
 *
 * Nobody starves: a reservation goes to the end of the line, and a worker has one block in it at a time, 250 ms at
 * most.
 */

/** The budget as its row holds it. Times are epoch milliseconds. */
export type Budget = {
  /** Slots are reserved up to this time. */
  readonly tatMs?: number | undefined;
  /** How many 429s the line has met, or how often it was begun again: slots of before are void. */
  readonly incidents: number;
  /** What is known of the platform's limit: every worker computes the rate from it. */
  readonly throttle?: ThrottleState | undefined;
  /** What was last heard of each operation. */
  readonly operations?: Readonly<Record<string, OperationNews>> | undefined;
  readonly pausedAtMs?: number | undefined;
  /** The configured rate of the worker that reserved last. */
  readonly rate?: number | undefined;
  readonly breaker?: OpenBreaker | undefined;
  /** When the platform refused the token first; undefined once it has accepted it again. */
  readonly tokenRefusedAtMs?: number | undefined;
  /** The longest that a call of any process waits for its slot, in milliseconds; undefined before the first. */
  readonly longestWaitMs?: number | undefined;
  /** When a process that waits so long last said so. */
  readonly longestWaitAtMs?: number | undefined;
  /** What an operator has set as the fleet's rate: it counts where it is below the configured one. */
  readonly capRate?: number | undefined;
  /** How much the calls of its workers may drift apart. Absent: as much as those of different machines. */
  readonly driftMs?: number | undefined;
  /** For people to read: sums over all workers. What a worker did since its last reservation is missing. */
  readonly tally: Tally;
};

/** Times at which the last call left that was accepted, and at which the last one was refused. */
export type OperationNews = {
  readonly answeredAtMs?: number | undefined;
  readonly refusedAtMs?: number | undefined;
  /** Since when it is refused while others are accepted: its calls wait in a line of its own first. */
  readonly aloneSinceMs?: number | undefined;
};

export type OpenBreaker = {
  /** When the first of the failures in a row ended. */
  readonly sinceMs: number;
  readonly cause: string;
  readonly probeAtMs: number;
};

/** What a fleet shares. Throws `TableError` if the table cannot be reached; a change may have been made all the same. */
export type BudgetItem = {
  /** Sees every change that got a response. */
  read(): Promise<Budget>;
  /** Undefined, and nothing stored, if `next` returned that. `next` is called again if another process was first. */
  change(act: string, next: ChangeBudget): Promise<Budget | undefined>;
  readonly onDate?: OnDate | undefined;
  /** The item of one operation's own line. Absent: operations have none. */
  readonly of?: ((operation: string) => BudgetItem) | undefined;
};

export type ChangeBudget = (budget: Budget) => Budget | undefined;

export const noTally: Tally = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0 };

export const emptyBudget: Budget = { incidents: 0, tally: noTally };

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

/** The budget with what a worker has heard of operations; the same if the fleet has heard as much within a second. */
export function withAnswered(budget: Budget, answered: ReadonlyMap<string, number>): Budget {
  const { operations = {} } = budget;
  const isNew = ([name, atMs]: [string, number]) => atMs >= (operations[name]?.answeredAtMs ?? 0) + 1_000;
  const news = [...answered].filter(isNew);
  if (news.length === 0) return budget;
  const heard = news.map(([name, answeredAtMs]) => [name, { ...operations[name], answeredAtMs }] as const);
  return { ...budget, operations: { ...operations, ...Object.fromEntries(heard) } };
}

/** Forgets all throttling: the line begins again at `fromMs`, and slots that were reserved before are void. */
export const resetAt = (budget: Budget, fromMs: number): Budget => ({
  ...budget,
  operations: undefined,
  tatMs: fromMs,
  throttle: undefined,
  incidents: budget.incidents + 1,
});

/** The longest that one block may be, in milliseconds: what is lost when a worker dies. */
export const BLOCK_MS = 250;

/** How long after its time a slot may be used: the spacing pays for it. Later calls would bunch with those that follow. */
export const LATE_MS = 10;

/** How much more the requests of different machines may drift apart than those of one. The spacing pays for it too. */
const MACHINES_DRIFT_MS = 10;

/** What a worker that is configured with this rate may use: the lower of its own rate and what an operator has set. */
export const cappedRate = (rate: number, { capRate }: Budget): number => Math.min(rate, capRate ?? rate);

/** Nothing but a wrong clock writes a time that is further ahead, in milliseconds: probes leave sooner. */
const WRONG_CLOCK_MS = 60_000;

/** How far ahead the line of callers that wait without limit may reach, in milliseconds. */
const UNLIMITED_MS = 1_200_000;

/** How long a process that waits longest says nothing of it. */
const REPEATED_MS = 30_000;

/** The longest wait of the item; 0 once what was reserved by then is over. */
const longestWait = ({ longestWaitMs = 0, longestWaitAtMs = 0 }: Budget, nowMs: number): number =>
  Math.abs(nowMs - longestWaitAtMs) <= longestWaitMs + WRONG_CLOCK_MS ? longestWaitMs : 0;

/** The latest end of the line that reservations explain: none is granted to a call that would wait for longer. */
export const latestLineMs = (budget: Budget, maxWaitMs: number, nowMs: number): number =>
  nowMs + Math.max(longestWait(budget, nowMs), Math.min(maxWaitMs, UNLIMITED_MS)) + WRONG_CLOCK_MS;

export function longerWait(budget: Budget, maxWaitMs: number, nowMs: number): Partial<Budget> {
  const waitMs = Math.min(maxWaitMs, UNLIMITED_MS);
  const longestMs = longestWait(budget, nowMs);
  const isOld = Math.abs(nowMs - (budget.longestWaitAtMs ?? 0)) > REPEATED_MS;
  const isSaid = waitMs < longestMs || (waitMs === longestMs && !isOld);
  return isSaid ? {} : { longestWaitMs: waitMs, longestWaitAtMs: nowMs };
}

/** The budget, or, if a wrong clock has written into it, one without throttling, whose line nothing explains. */
function believable(budget: Budget, nowMs: number): Budget {
  const { throttle } = budget;
  if (throttle === undefined || latestMs(throttle) <= nowMs + WRONG_CLOCK_MS) return budget;
  return { ...budget, throttle: undefined, tatMs: Number.POSITIVE_INFINITY };
}

/** What the throttling of the fleet's line is computed from, for a worker that may use `rate` at most. */
export const lineFacts = (rate: number, budget: Budget, nowMs: number): LineFacts => ({
  cap: cappedRate(rate, budget),
  nowMs,
  granted: budget.tally.granted,
});

/** The budget of a fleet that starts at `rate`, if nothing is known of the limit yet and it may rise to `ceiling`. */
export function startedAt(rate: number, ceiling: number, budget: Budget, nowMs: number): Budget {
  if (budget.throttle !== undefined || rate >= ceiling) return budget;
  return { ...budget, throttle: learnedAt(rate, lineFacts(ceiling, budget, nowMs)) };
}

/** Requests a second that the fleet may send now. */
export const effectiveRate = (rate: number, budget: Budget, nowMs: number): number =>
  rateOf(budget.throttle, lineFacts(rate, budget, nowMs));

/** One slot moves the line by no more than this many milliseconds, or slots of the full rate. */
const MAX_STEP_MS = 10_000;
const MAX_STEP_SLOTS = 12;

export function lineSpacing(rate: number, budget: Budget, nowMs: number): Spacing {
  const spacing = spacingFor(effectiveRate(rate, budget, nowMs), paidMs(budget));
  const maxMs = Math.max(MAX_STEP_MS, (MAX_STEP_SLOTS * 1_000) / cappedRate(rate, budget));
  return { ...spacing, intervalMs: Math.min(spacing.intervalMs, maxMs) };
}

export const fullSpacing = (rate: number, budget: Budget): Spacing =>
  spacingFor(cappedRate(rate, budget), paidMs(budget));

const paidMs = ({ driftMs = MACHINES_DRIFT_MS }: Budget): number => LATE_MS + driftMs;

type Refusal = {
  readonly rate: number;
  readonly nowMs: number;
  readonly retryAfterMs: number | undefined;
  /** Whether a call is known to have succeeded since the last 429. */
  readonly hasSucceeded: boolean;
};

/** The budget after a 429 of a call that left after the last one. Slots that were not due yet are void. */
export function afterRefusal(budget: Budget, { rate, nowMs, retryAfterMs, hasSucceeded }: Refusal): Budget {
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

export function dueAtMs(tatMs: number, { toleranceMs }: Spacing): number {
  return tatMs - toleranceMs;
}

type Tally = {
  readonly granted: number;
  readonly used: number;
  readonly wasted: number;
  readonly waitedMs: number;
  readonly throttled: number;
};

export const addTally = (a: Tally, b: Tally, times = 1): Tally => ({
  granted: a.granted + times * b.granted,
  used: a.used + times * b.used,
  wasted: a.wasted + times * b.wasted,
  waitedMs: a.waitedMs + times * b.waitedMs,
  throttled: a.throttled + times * b.throttled,
});

export type WorkerTally = ReturnType<typeof createWorkerTally>;

/** What one worker did, and how much of that it has reported to the budget. */
export function createWorkerTally() {
  let [counted, known] = [noTally, noTally];
  return {
    add(some: Partial<Tally>): void {
      counted = addTally(counted, { ...noTally, ...some });
    },
    counted: (): Tally => counted,
    /** What the next write reports, if it grants so many slots. */
    reportOf: (granted: number): Tally => ({ ...addTally(counted, known, -1), granted }),
    reported(report: Tally): void {
      known = addTally(known, report);
      counted = { ...counted, granted: known.granted };
    },
  };
}

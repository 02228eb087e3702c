import type { OnDate } from '../table/index.ts';
import { effectiveSpacing } from './effective-rate.ts';
import { type Spacing, spacingFor } from './gcra.ts';
import type { Lowered } from './lowered.ts';
import { noTally, type Tally } from './tally.ts';

/*
 * The budget of a fleet: one line of slots that all workers calling the same platform host share. The time up to which
 * the line is reserved (the theoretical arrival time) moves forward only as slots are reserved, by the worker whose
 * write arrives first, and each reservation covers a stretch that nobody else has. So no slot is given out twice,
 * however much the workers' clocks differ: a worker's clock only shifts the calls that it makes itself, and a second of
 * the platform's time holds no more of the line than a second plus the difference between the clocks.
 *
 * Nobody starves. A reservation goes to the end of the line, and a worker has one block in it at a time, 250 ms at
 * most. So a newcomer, even a snapshot that takes one slot at a time, waits for one block of every other worker and no
 * longer, however many jobs they have waiting.
 */

/** The budget as its row holds it. Times are epoch milliseconds. */
export type Budget = {
  /** Slots are reserved up to this time; undefined before the first. */
  readonly tatMs?: number | undefined;
  /** How many times the rate has been lowered, or the line begun again: slots of before are void. */
  readonly incidents: number;
  /** What throttling left behind: every worker computes from it how much of the rate has recovered. */
  readonly lowered?: Lowered | undefined;
  /** When an operator paused all calls; undefined if they are not paused. */
  readonly pausedAtMs?: number | undefined;
  /** The configured rate of the worker that reserved last; undefined before the first. */
  readonly rate?: number | undefined;
  /** Set while the platform is away; undefined if the breaker is closed. */
  readonly breaker?: OpenBreaker | undefined;
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

/** An open breaker; times in epoch milliseconds. */
export type OpenBreaker = {
  /** When the first of the failures in a row ended. */
  readonly sinceMs: number;
  readonly cause: string;
  /** When the next probe is due. */
  readonly probeAtMs: number;
};

/** What a fleet shares. Throws `TableError` if the table cannot be reached; a change may have been made all the same. */
export type BudgetItem = {
  /** Sees every change that got a response. */
  read(): Promise<Budget>;
  /**
   * Stores what `next` makes of the budget, and returns it; undefined if `next` returned that, and nothing is stored.
   * `next` is called again with what another process has stored meanwhile. `act` goes into errors.
   */
  change(act: string, next: ChangeBudget): Promise<Budget | undefined>;
  /** Absent where responses have no `Date`. */
  readonly onDate?: OnDate | undefined;
};

export type ChangeBudget = (budget: Budget) => Budget | undefined;

export const emptyBudget: Budget = { incidents: 0, tally: noTally };

/** The budget of one process, in its memory. */
export function createMemoryBudget(start = emptyBudget): BudgetItem {
  let budget = start;
  return {
    read: async () => budget,
    async change(_, change) {
      const next = change(budget);
      budget = next ?? budget;
      return next;
    },
  };
}

/** Forgets all throttling: the line begins again at `fromMs`, and slots that were reserved before are void. */
export const resetAt = (budget: Budget, fromMs: number): Budget => ({
  ...budget,
  tatMs: fromMs,
  lowered: undefined,
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

/** The budget holds the longest wait of all processes, for as long as one of them repeats it twice a minute. */
export function longerWait(budget: Budget, maxWaitMs: number, nowMs: number): Partial<Budget> {
  const waitMs = Math.min(maxWaitMs, UNLIMITED_MS);
  const longestMs = longestWait(budget, nowMs);
  const isOld = Math.abs(nowMs - (budget.longestWaitAtMs ?? 0)) > REPEATED_MS;
  const isSaid = waitMs < longestMs || (waitMs === longestMs && !isOld);
  return isSaid ? {} : { longestWaitMs: waitMs, longestWaitAtMs: nowMs };
}

/** The budget, or, if a wrong clock has written into it, one without throttling, whose line nothing explains. */
export function believable(budget: Budget, nowMs: number): Budget {
  const { atMs = 0, refusedAtMs = 0, probeMs = 0, succeededMs = 0 } = budget.lowered ?? {};
  const latestMs = Math.max(atMs, refusedAtMs, probeMs, succeededMs);
  if (latestMs <= nowMs + WRONG_CLOCK_MS) return budget;
  return { ...budget, lowered: undefined, tatMs: Number.POSITIVE_INFINITY };
}

/** The current spacing of the line, for a worker configured with this rate. */
export function lineSpacing(rate: number, budget: Budget, nowMs: number): Spacing {
  const { lowered } = budget;
  return effectiveSpacing(cappedRate(rate, budget), { lowered, nowMs, lateMs: paidMs(budget) });
}

/** The spacing of the line before throttling took anything of its rate. */
export const fullSpacing = (rate: number, budget: Budget): Spacing =>
  spacingFor(cappedRate(rate, budget), paidMs(budget));

/** What the spacing pays for: late calls, and clocks that drift. */
const paidMs = ({ driftMs = MACHINES_DRIFT_MS }: Budget): number => LATE_MS + driftMs;

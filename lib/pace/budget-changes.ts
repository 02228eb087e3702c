import type { BreakerItem, OpenBreaker } from './breaker.ts';
import {
  type Budget,
  type BudgetWrite,
  emptyBudget,
  type HostItem,
  type Incident,
  type Reservation,
} from './budget.ts';
import { isProbing, type Lowered } from './lowered.ts';
import { addTally } from './tally.ts';

/**
 * Makes one change to a budget, which nobody else changes meanwhile: `change` returns the next budget, or undefined if
 * nothing is to be written.
 */
export type ChangeBudget = (
  act: string,
  change: (budget: Budget) => Budget | undefined,
) => Promise<BudgetWrite>;

/** The budget of one process, and the breaker in it, in its memory. */
export function createMemoryBudget(start: Budget = emptyBudget): HostItem {
  let budget = start;
  return budgetBy({
    read: async () => budget,
    async change(_, change) {
      const next = change(budget);
      if (next === undefined) return { kind: 'refused' };
      budget = next;
      return { kind: 'written', budget };
    },
  });
}

type BudgetParts = { readonly read: () => Promise<Budget>; readonly change: ChangeBudget };

/** A budget with exactly the conditions of the item in DynamoDB. */
export function budgetBy({ read, change }: BudgetParts): HostItem {
  const always = async (act: string, next: (budget: Budget) => Budget) => {
    const written = await change(act, next);
    return written.kind === 'written' ? written.budget : read();
  };
  return {
    read,
    breaker: breakerBy({ read, change }),
    reserve: (reservation) => change('reserve', (budget) => reserved(reservation, budget)),
    lower: ({ incidents, fromMs, lowered }: Incident) =>
      change('lower', (budget) =>
        budget.incidents === incidents
          ? { ...budget, tatMs: fromMs, incidents: incidents + 1, lowered }
          : undefined,
      ),
    pause: (atMs) => always('pause', (budget) => ({ ...budget, pausedAtMs: atMs })),
    resume: () => always('resume', (budget) => ({ ...budget, pausedAtMs: undefined })),
    reset: (fromMs) =>
      always('reset', (budget) => ({
        ...budget,
        tatMs: fromMs,
        lowered: undefined,
        incidents: budget.incidents + 1,
      })),
    cap: (capRate) => always('cap', (budget) => ({ ...budget, capRate })),
  };
}

function reserved(reservation: Reservation, budget: Budget): Budget | undefined {
  const { kind, fromMs, blockMs, incidents, rate, tally, longestWaitMs } = reservation;
  const grants = budget.pausedAtMs === undefined && budget.incidents === incidents;
  if (!grants || !isAs(reservation, budget)) return undefined;
  const start = kind === 'busy' ? (budget.tatMs ?? 0) : fromMs;
  return {
    ...budget,
    ...(kind === 'probe' ? {} : { tatMs: exact(start + blockMs) }),
    incidents: kind === 'stray' ? incidents + 1 : incidents,
    ...(longestWaitMs === undefined ? {} : { longestWaitMs, longestWaitAtMs: fromMs }),
    lowered: loweredAfter(reservation, budget),
    rate,
    tally: addTally(budget.tally, tally),
  };
}

/** Whether the line is as the reservation says. */
function isAs({ kind, fromMs, latestMs, probeMs }: Reservation, { tatMs, lowered }: Budget): boolean {
  switch (kind) {
    case 'idle':
      return tatMs === undefined || tatMs < fromMs;
    case 'busy':
      return tatMs !== undefined && tatMs >= fromMs && tatMs <= latestMs;
    case 'stray':
      return true;
    case 'probe':
    case 'restart':
      return isProbing(lowered) && lowered.probeMs === probeMs;
    default:
      return kind satisfies never;
  }
}

function loweredAfter({ kind, fromMs, nextProbeMs }: Reservation, { lowered }: Budget): Lowered | undefined {
  if (lowered === undefined || kind === 'stray') return undefined;
  if (kind === 'probe') return { ...lowered, probeMs: nextProbeMs };
  return kind === 'restart' ? { ...lowered, succeededMs: fromMs } : lowered;
}

/** DynamoDB adds decimals: the sum has no more digits than its terms, which are rounded to the microsecond. */
const exact = (ms: number) => Math.round(ms * 1000) / 1000;

/** The breaker that lies in a budget. */
function breakerBy({ read, change }: BudgetParts): BreakerItem {
  const still = (budget: Budget, { sinceMs }: OpenBreaker) => budget.breaker?.sinceMs === sinceMs;
  return {
    read: async () => (await read()).breaker,
    async open(breaker) {
      await change('open the breaker in', (budget) =>
        budget.breaker === undefined ? { ...budget, breaker } : undefined,
      );
    },
    async takeProbe(seen, probeAtMs) {
      const written = await change('take the probe of', (budget) =>
        still(budget, seen) && budget.breaker?.probeAtMs === seen.probeAtMs
          ? { ...budget, breaker: { ...seen, cause: budget.breaker.cause, probeAtMs } }
          : undefined,
      );
      return written.kind === 'written';
    },
    async close(seen) {
      await change('close the breaker in', (budget) =>
        still(budget, seen) ? { ...budget, breaker: undefined } : undefined,
      );
    },
  };
}

import {
  type Budget,
  type BudgetItem,
  type BudgetWrite,
  emptyBudget,
  type Incident,
  type Reservation,
} from '../../lib/pace/budget.ts';
import { isProbing, type Lowered } from '../../lib/pace/lowered.ts';
import { addTally } from '../../lib/pace/tally.ts';

/** The budget of a fleet in this process's memory, with exactly the conditions of the item in DynamoDB. */
export function createMemoryBudget(start: Budget = emptyBudget): BudgetItem {
  let budget = start;

  const writeIf = (holds: boolean, next: Budget): BudgetWrite => {
    if (!holds) return { kind: 'refused' };
    budget = next;
    return { kind: 'written', budget };
  };

  return {
    read: async () => budget,
    async reserve(reservation: Reservation) {
      const { kind, fromMs, blockMs, incidents, rate, tally, longestWaitMs } = reservation;
      const grants = budget.pausedAtMs === undefined && budget.incidents === incidents;
      const start = kind === 'busy' ? (budget.tatMs ?? 0) : fromMs;
      const line = kind === 'probe' ? {} : { tatMs: exact(start + blockMs) };
      return writeIf(grants && isAs(reservation, budget), {
        ...budget,
        ...line,
        incidents: kind === 'stray' ? incidents + 1 : incidents,
        longestWaitMs: longestWaitMs ?? budget.longestWaitMs,
        lowered: loweredAfter(reservation, budget),
        rate,
        tally: addTally(budget.tally, tally),
      });
    },
    lower: async ({ incidents, fromMs, lowered }: Incident) =>
      writeIf(budget.incidents === incidents, {
        ...budget,
        tatMs: fromMs,
        incidents: incidents + 1,
        lowered,
      }),
    async pause(atMs) {
      budget = { ...budget, pausedAtMs: atMs };
      return budget;
    },
    async resume() {
      budget = { ...budget, pausedAtMs: undefined };
      return budget;
    },
    async reset(fromMs) {
      budget = { ...budget, tatMs: fromMs, lowered: undefined, incidents: budget.incidents + 1 };
      return budget;
    },
    async cap(capRate) {
      budget = { ...budget, capRate };
      return budget;
    },
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

import {
  type Budget,
  type BudgetItem,
  type BudgetWrite,
  emptyBudget,
  type Incident,
  type Reservation,
} from '../../lib/pace/budget.ts';
import { addTally } from '../../lib/pace/tally.ts';

/** The budget of a fleet in this process's memory, with exactly the conditions of the item in DynamoDB. */
export function createMemoryBudget(): BudgetItem {
  let budget: Budget = emptyBudget;

  const writeIf = (holds: boolean, next: Budget): BudgetWrite => {
    if (!holds) return { kind: 'refused' };
    budget = next;
    return { kind: 'written', budget };
  };

  return {
    read: async () => budget,
    async reserve({ kind, fromMs, latestMs, blockMs, incidents, rate, tally }: Reservation) {
      const { tatMs } = budget;
      const isFree = tatMs === undefined || tatMs < fromMs;
      const isWithin = tatMs !== undefined && tatMs >= fromMs && tatMs <= latestMs;
      const grants = budget.pausedAtMs === undefined && budget.incidents === incidents;
      return writeIf(grants && (kind === 'idle' ? isFree : isWithin), {
        ...budget,
        tatMs: exact((kind === 'idle' ? fromMs : (tatMs ?? 0)) + blockMs),
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
  };
}

/** DynamoDB adds decimals: the sum has no more digits than its terms, which are rounded to the microsecond. */
const exact = (ms: number) => Math.round(ms * 1000) / 1000;

import { type Budget, type BudgetItem, believable, type ChangeBudget } from './budget.ts';
import { createRecentLongest } from './recent-longest.ts';
import { type Clock, type Moment, momentOf } from './slots.ts';

export type BudgetView = ReturnType<typeof createBudgetView>;

/**
 * A worker's view of the budget: what was last seen of it, without what only a wrong clock can have written, and how
 * long the table takes. Throws what the item throws.
 */
export function createBudgetView(item: BudgetItem, clock: Clock) {
  let last: Budget | undefined;
  let lastAt: Moment = () => Number.NEGATIVE_INFINITY;
  const lead = createRecentLongest();

  // A response may have set the clock.
  const saw = (budget: Budget, at: Moment): Budget => {
    last = believable(budget, clock.now());
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
    /** Undefined before the first response. */
    last: () => last,
    /** Milliseconds since what was last seen was requested. */
    ageMs: () => clock.now() - lastAt(),
    /** The longest that a response has taken recently, in milliseconds. */
    leadMs: lead.ms,
    look,
    /** Changes the item; see there. */
    async change(act: string, next: ChangeBudget): Promise<Budget | undefined> {
      let at = momentOf(clock);
      const changed = await item.change(act, (budget) => {
        at = momentOf(clock);
        return next(saw(budget, at));
      });
      if (changed === undefined) return undefined;
      lead.add(clock.now() - at());
      return saw(changed, at);
    },
  };
}

import { type Budget, type BudgetItem, believable, type ChangeBudget } from './budget.ts';
import { createRecentLongest } from './recent-longest.ts';
import { type Clock, type Moment, momentOf } from './slots.ts';

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

import { type Budget, type BudgetItem, type BudgetWrite, believable } from './budget.ts';
import { createRecentLongest } from './recent-longest.ts';
import { type Clock, type Moment, momentOf } from './slots.ts';

export type BudgetView = ReturnType<typeof createBudgetView>;

/**
 * A worker's view of the budget: what the last response said, without what only a wrong clock can have written, and how
 * long responses take. Throws what the item throws.
 */
export function createBudgetView(item: BudgetItem, clock: Clock) {
  let last: Budget | undefined;
  let lastAt: Moment = () => Number.NEGATIVE_INFINITY;
  const lead = createRecentLongest();

  // Sent once more if it fails: a keep-alive connection may have died. A block that is reserved twice this way is
  // wasted; an incident is refused the second time.
  const send = async <T>(request: () => Promise<T>, budgetIn: (response: T) => Budget | undefined) => {
    let sentAt = momentOf(clock);
    const response = await request().catch(() => {
      sentAt = momentOf(clock);
      return request();
    });
    // The response may have set the clock.
    lead.add(clock.now() - sentAt());
    const budget = budgetIn(response);
    if (budget !== undefined) [last, lastAt] = [believable(budget, clock.now()), sentAt];
    return response;
  };
  const look = async () => {
    const budget = await send(item.read, (read) => read);
    return believable(budget, clock.now());
  };

  return {
    /** The budget as last seen; read if it has never been seen. */
    known: async () => last ?? look(),
    /** Undefined before the first response. */
    last: () => last,
    /** Milliseconds since the request for the last response was sent. */
    ageMs: () => clock.now() - lastAt(),
    /** The longest that a response has taken recently, in milliseconds. */
    leadMs: lead.ms,
    look,
    write: (request: () => Promise<BudgetWrite>) =>
      send(request, (result) => (result.kind === 'written' ? result.budget : undefined)),
  };
}

import { type Budget, type BudgetItem, type BudgetWrite, believable } from './budget.ts';
import { createRecentLongest } from './recent-longest.ts';
import { type Clock, type Moment, momentOf } from './slots.ts';

/** A worker's view of the budget: what the last response said, and how long responses take. */
export type BudgetView = {
  /** The budget as last seen; read if it has never been seen. */
  known(): Promise<Budget>;
  /** Undefined before the first response. */
  last(): Budget | undefined;
  /** Milliseconds since the request for the last response was sent. */
  ageMs(): number;
  /** The longest that a response has taken recently, in milliseconds. */
  leadMs(): number;
  look(): Promise<Budget>;
  write(request: () => Promise<BudgetWrite>): Promise<BudgetWrite>;
};

/** A view of an item, without what only a wrong clock can have written. Throws what the item throws. */
export function createBudgetView(item: BudgetItem, clock: Clock): BudgetView {
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
    known: async () => last ?? look(),
    last: () => last,
    ageMs: () => clock.now() - lastAt(),
    leadMs: lead.ms,
    look,
    write: (request) => send(request, (result) => (result.kind === 'written' ? result.budget : undefined)),
  };
}

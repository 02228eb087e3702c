import type { Budget, BudgetItem, BudgetWrite } from './budget.ts';
import type { Clock } from './slots.ts';

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

/** The share of the longest recent response time that remains after each shorter response. */
const FADE = 0.7;

/**
 * A response that took longer says nothing about the next: requests give up after 1 s, and after 1 s of connecting, so
 * the process was stopped meanwhile, as Lambda stops it between invocations and a closed lid stops a laptop.
 */
const LONGEST_MS = 2_000;

/** A view of an item. Throws what the item throws. */
export function createBudgetView(item: BudgetItem, clock: Clock): BudgetView {
  let last: Budget | undefined;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  let leadMs = 0;

  // Sent once more if it fails: a keep-alive connection may have died. A block that is reserved twice this way is
  // wasted; an incident is refused the second time.
  const send = async <T>(request: () => Promise<T>, budgetIn: (response: T) => Budget | undefined) => {
    const sent = { atMs: clock.now() };
    const response = await request().catch(() => {
      sent.atMs = clock.now();
      return request();
    });
    const tookMs = clock.now() - sent.atMs;
    leadMs = Math.max(tookMs > LONGEST_MS ? 0 : tookMs, leadMs * FADE);
    const budget = budgetIn(response);
    if (budget !== undefined) [last, lastAtMs] = [budget, sent.atMs];
    return response;
  };
  const look = () => send(item.read, (budget) => budget);

  return {
    known: async () => last ?? look(),
    last: () => last,
    ageMs: () => clock.now() - lastAtMs,
    leadMs: () => leadMs,
    look,
    write: (request) => send(request, (result) => (result.kind === 'written' ? result.budget : undefined)),
  };
}

import type { Budget, BudgetItem, BudgetWrite } from './budget.ts';
import type { Clock } from './slots.ts';

/** A worker's view of the budget: as an answer last told it, and how long answers take. */
export type BudgetView = {
  /** The budget as it is known; asked for if it is not. */
  known(): Promise<Budget>;
  /** Undefined before the first answer. */
  last(): Budget | undefined;
  /** Milliseconds since the last answer was asked for. */
  ageMs(): number;
  /** How long an answer takes, at the most, of late. */
  leadMs(): number;
  look(): Promise<Budget>;
  write(question: () => Promise<BudgetWrite>): Promise<BudgetWrite>;
};

/** What is left of the longest answer of late with each answer that is shorter. */
const FADE = 0.7;

/** The view over an item. Throws what the item throws. */
export function createBudgetView(item: BudgetItem, clock: Clock): BudgetView {
  let last: Budget | undefined;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  let leadMs = 0;

  // Asked once more if it fails: a connection that was kept may have died. A block that is reserved twice so is
  // wasted, an incident is refused the second time.
  const ask = async <T>(question: () => Promise<T>, budgetIn: (answer: T) => Budget | undefined) => {
    const asked = { atMs: clock.now() };
    const answer = await question().catch(() => {
      asked.atMs = clock.now();
      return question();
    });
    leadMs = Math.max(clock.now() - asked.atMs, leadMs * FADE);
    const budget = budgetIn(answer);
    if (budget !== undefined) [last, lastAtMs] = [budget, asked.atMs];
    return answer;
  };
  const look = () => ask(item.read, (budget) => budget);

  return {
    known: async () => last ?? look(),
    last: () => last,
    ageMs: () => clock.now() - lastAtMs,
    leadMs: () => leadMs,
    look,
    write: (question) => ask(question, (answer) => (answer.kind === 'written' ? answer.budget : undefined)),
  };
}

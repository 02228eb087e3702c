/*
 * Decides when a call may leave: one budget of slots that all processes share, the limit that is learned from 429s, and
 * the breaker that stops jobs while the platform is unavailable. Paces and tables are loaded when they are first used.
 */

import type { BudgetItem } from './budget.ts';

export { type Breaker, type CallOutcome, createFleetBreaker } from './breaker.ts';
export {
  BLOCK_MS,
  type Budget,
  type BudgetItem,
  createMemoryBudget,
  type OpenBreaker,
  resetBudget,
} from './budget.ts';
export type { Clock } from './clock.ts';
export type { Priority } from './fair-queue.ts';
export type { LocalPaceOptions } from './fleet-pace.ts';
export { createLocalPace, openFleetPace } from './lazy-pace.ts';
export { PAUSED, type Pace, type PaceCounts, PaceWaitError, type Slot } from './pace.ts';
export { readPaceStatus, type ThrottledOperation, throttledLine } from './pace-status.ts';
export { createTableClock } from './table-clock.ts';

/** Opens the budget of a host in a table of DynamoDB or in a file of SQLite. */
export const openBudget = async (
  ...options: Parameters<typeof import('./stored-budget.ts').openBudget>
): Promise<BudgetItem> => (await import('./stored-budget.ts')).openBudget(...options);

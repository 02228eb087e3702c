import { emptyBudget } from './budget.ts';
import { createMemoryBudget } from './budget-changes.ts';
import { createFleetPace, type FleetPaceOptions } from './fleet-pace.ts';
import type { Pace } from './pace.ts';

/** Options for the pace of one process. */
export type LocalPaceOptions = Pick<
  FleetPaceOptions,
  'rate' | 'concurrency' | 'maxWaitMs' | 'sleep' | 'random'
> & {
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
};

/** The pace of one process: a fleet of one, whose budget lies in its memory. Throws `RangeError` if a limit is invalid. */
export const createLocalPace = (options: LocalPaceOptions): Pace =>
  createFleetPace({
    now: () => performance.now(),
    ...options,
    item: createMemoryBudget({ ...emptyBudget, driftMs: 0 }),
  });

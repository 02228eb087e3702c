import PQueue from 'p-queue';
import { sleep } from '../time/sleep.ts';
import type { BudgetItem } from './budget.ts';
import { createFleetSlots } from './fleet-slots.ts';
import { checkLimits, createGatedPace } from './gated-pace.ts';
import type { Pace } from './pace.ts';
import { withSafeRate } from './safe-slots.ts';

/** How the pace of one worker of a fleet is made. */
export type FleetPaceOptions = {
  /** The budget that all workers share. */
  readonly item: BudgetItem;
  /** Requests a second of the whole fleet; above 0. */
  readonly rate: number;
  /** Requests in flight at once in this process; a whole number from 1. */
  readonly concurrency: number;
  /** The most processes at once; for the safe rate. A whole number from 1. */
  readonly workers: number;
  /** The longest a call waits for its slot, in milliseconds. Default: for ever. */
  readonly maxWaitMs?: number;
  /** `one` for whoever can wait and should not be in the way: a slot at a time. Default: `block`. */
  readonly greed?: 'one' | 'block';
  /** Told once an outage of the budget: calls leave at the safe rate, rate ÷ (2 × workers). */
  readonly onSafeRate?: (cause: unknown) => void;
  /** Told when the outage is over. */
  readonly onFleetRate?: () => void;
  /** Epoch milliseconds. Between workers 100 ms of difference do little harm. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The pace of one worker of a fleet. Throws `RangeError` if a limit is none. */
export function createFleetPace(options: FleetPaceOptions): Pace {
  checkLimits(options);
  const { item, rate, concurrency, workers, maxWaitMs = Number.POSITIVE_INFINITY, greed = 'block' } = options;
  if (!(Number.isInteger(workers) && workers >= 1)) {
    throw new RangeError(`workers: expected a whole number from 1, got ${workers}`);
  }
  const clock = { now: options.now ?? Date.now, sleep: options.sleep ?? sleep };
  const source = withSafeRate({
    fleet: createFleetSlots({ item, rate, maxWaitMs, greed, clock }),
    safeRate: rate / (2 * workers),
    maxWaitMs,
    clock,
    onSafeRate: options.onSafeRate ?? (() => {}),
    onFleetRate: options.onFleetRate ?? (() => {}),
  });
  return createGatedPace({ source, inFlight: new PQueue({ concurrency }), maxWaitMs, clock });
}

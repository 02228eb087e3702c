import PQueue from 'p-queue';
import { sleep } from '../time/sleep.ts';
import { checkLimits, createGatedPace } from './gated-pace.ts';
import { createLocalSlots } from './local-slots.ts';
import type { Pace } from './pace.ts';

/** How a pace is made. */
export type LocalPaceOptions = {
  /** Requests a second; above 0. */
  readonly rate: number;
  /** Requests in flight at once; a whole number from 1. */
  readonly concurrency: number;
  /** The longest a call waits for its slot, in milliseconds. Default: for ever. */
  readonly maxWaitMs?: number;
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The pace of one process. */
export function createLocalPace(options: LocalPaceOptions): Pace {
  checkLimits(options);
  const { rate, concurrency, maxWaitMs = Number.POSITIVE_INFINITY } = options;
  const clock = { now: options.now ?? (() => performance.now()), sleep: options.sleep ?? sleep };
  const source = createLocalSlots({ rate, maxWaitMs, clock });
  return createGatedPace({ source, inFlight: new PQueue({ concurrency }), maxWaitMs, clock });
}

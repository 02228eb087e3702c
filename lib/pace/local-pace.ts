import PQueue from 'p-queue';
import { sleep } from '../time/sleep.ts';
import { checkLimits, createGatedPace } from './gated-pace.ts';
import { createLocalSlots } from './local-slots.ts';
import type { Pace } from './pace.ts';

/** Options for the pace of one process. */
export type LocalPaceOptions = {
  /** Requests a second; above 0. */
  readonly rate: number;
  /** The most requests in flight at once; a whole number, at least 1. */
  readonly concurrency: number;
  /** The longest that a call waits for its slot, in milliseconds. Default: no limit. */
  readonly maxWaitMs?: number;
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1; spreads probes. Default: `Math.random`. */
  readonly random?: () => number;
};

/** The pace of one process. */
export function createLocalPace(options: LocalPaceOptions): Pace {
  checkLimits(options);
  const { rate, concurrency, maxWaitMs = Number.POSITIVE_INFINITY } = options;
  const clock = { now: options.now ?? (() => performance.now()), sleep: options.sleep ?? sleep };
  const source = createLocalSlots({ rate, maxWaitMs, clock, random: options.random });
  return createGatedPace({ source, inFlight: new PQueue({ concurrency }), maxWaitMs, clock });
}

import type { Priority } from './fair-queue.ts';

/** A permission for one call to leave now. */
export type Slot = {
  /** When the slot began, in milliseconds on the pace's clock. */
  readonly atMs: number;
  /** How long the call waited for it, in milliseconds. */
  readonly waitedMs: number;
  /**
   * With a fleet's budget: the line's number of 429s when the slot was reserved. Independently of clocks, it shows
   * whether a 429 has already been reported.
   */
  readonly throttleEpoch?: number;
  /**
   * The latest time to leave in this slot, in milliseconds on the pace's clock; undefined if a late call only delays
   * later calls.
   */
  readonly untilMs?: number;
};

/** What the pace has done so far in this process; the counters only grow. */
export type PaceCounts = {
  /** Slots that were reserved. */
  readonly granted: number;
  /** Slots that were used: a call was sent. */
  readonly used: number;
  /** Slots that were not used: no call was waiting, or the slot came too late. */
  readonly wasted: number;
  /** Milliseconds that calls waited for their slots, in total. */
  readonly waitedMs: number;
  /** Calls that the platform refused with 429. */
  readonly throttled: number;
  /** The present rate, in requests a second; below the configured rate after a 429. */
  readonly effectiveRate: number;
};

/** Options for one call. */
export type RunOptions<T> = {
  readonly signal?: AbortSignal | undefined;
  /** Decides how many other calls leave before this one. Default: `normal`. */
  readonly priority?: Priority | undefined;
  /**
   * The name of the operation. An operation that the platform throttles on its own has a separate line. Default: no
   * name.
   */
  readonly operation?: string | undefined;
  /** Whether the call's result shows that the platform accepts calls. Default: true, unless the call was throttled. */
  readonly isAccepted?: ((result: T) => boolean) | undefined;
  /**
   * Work that must be finished before the call leaves. It runs shortly before the call takes its slot, so that the
   * call does not leave late, however long the work takes. If it throws, the call ends with that error and takes no
   * slot.
   */
  readonly prepare?: (() => Promise<void>) | undefined;
};

/**
 * Decides when a call may leave, and how many calls are in flight. The pace of one process and the pace of a
 * fleet have the same interface.
 */
export type Pace = {
  /**
   * Waits for a concurrency slot and for a slot of the line, and then calls. Throws `PaceWaitError` if the wait would
   * exceed the maximum; then nothing is reserved, and no call is made. This can happen even after `prepare` has
   * run. The caller's abort passes through.
   */
  run<T>(call: (slot: Slot) => Promise<T>, options?: RunOptions<T>): Promise<T>;
  /**
   * Reports that the platform refused the call of this slot with 429. `retryAfterMs`: its `Retry-After`, if it sent
   * one.
   */
  throttled(slot: Slot, retryAfterMs?: number): Promise<void>;
  /** The counters so far, and the rate at this moment. */
  counts(): PaceCounts;
};

/**
 * A line, a `Retry-After` or a maximum wait can cause waits up to this length, in milliseconds. A longer wait can
 * only come from a clock change, so it is ignored.
 */
const MAX_WAIT_MS = 1_260_000;

/** The wait to report instead, in milliseconds. */
const WAIT_IF_CLOCK_SET_MS = 1_000;

/**
 * Thrown if a call would have to wait longer for its turn than it may, or if the budget is paused. Nothing was
 * reserved, and no call was made.
 */
export class PaceWaitError extends Error {
  override readonly name = 'PaceWaitError';
  /**
   * Milliseconds from now until the call's turn; if the budget is paused or unavailable, until a retry is
   * worthwhile.
   */
  readonly waitMs: number;
  readonly maxWaitMs: number;
  readonly isPaused: boolean;

  constructor(dueInMs: number, maxWaitMs: number, why: 'too-late' | 'paused' = 'too-late') {
    const waitMs = dueInMs > MAX_WAIT_MS ? WAIT_IF_CLOCK_SET_MS : dueInMs;
    super(
      why === 'paused'
        ? PAUSED
        : `the call's turn is in ${Math.ceil(waitMs)} ms, but it may wait at most ${maxWaitMs} ms`,
    );
    this.waitMs = waitMs;
    this.maxWaitMs = maxWaitMs;
    this.isPaused = why === 'paused';
  }
}

/** The message of commands and errors about a paused budget. */
export const PAUSED = 'paused by `pace --pause`: nothing is sent until `pace --resume`';

/** Throws `RangeError` if a limit of a pace is invalid. */
export function checkLimits(options: {
  readonly rate: number;
  readonly concurrency: number;
  readonly maxWaitMs?: number | undefined;
}): void {
  const { rate, concurrency, maxWaitMs } = options;
  if (!(rate > 0 && rate < Number.POSITIVE_INFINITY))
    throw new RangeError(`rate: expected a number above 0, got ${rate}`);
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new RangeError(`concurrency: expected a whole number of at least 1, got ${concurrency}`);
  }
  if (maxWaitMs !== undefined && !(maxWaitMs >= 0)) {
    throw new RangeError(`maxWaitMs: expected a number of at least 0, got ${maxWaitMs}`);
  }
}

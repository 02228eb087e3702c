import type { Priority } from './fair-queue.ts';

/** A permission for one call to leave now. */
export type Slot = {
  /** When the slot began, in milliseconds on the pace's clock; shows whether a 429 belongs to an older episode. */
  readonly atMs: number;
  /** How long the call waited for it, in milliseconds. */
  readonly waitedMs: number;
  /** With a fleet's budget: how many 429s its line had met at reservation. Independent of clocks. */
  readonly throttleEpoch?: number;
  /** The latest time to leave in it, in milliseconds on the pace's clock; undefined if any delay only moves later slots. */
  readonly untilMs?: number;
};

/** What the pace has done so far in this process; the counters only grow. */
export type PaceCounts = {
  /** Slots that were reserved. */
  readonly granted: number;
  /** Slots that a call left in. */
  readonly used: number;
  /** Slots that passed without a call: no call was left for the block, or its slots were granted too late. */
  readonly wasted: number;
  /** Milliseconds that calls waited for their slots, summed. */
  readonly waitedMs: number;
  /** Calls that the platform refused with 429. */
  readonly throttled: number;
  /** Requests a second that may leave now; below the configured rate after a 429. */
  readonly effectiveRate: number;
};

/** Options for one call. */
export type RunOptions<T> = {
  readonly signal?: AbortSignal | undefined;
  /** Decides how many other calls leave before this one. Default: `normal`. */
  readonly priority?: Priority | undefined;
  /** The name of the operation: one that is throttled while others are accepted waits alone. Default: none. */
  readonly operation?: string | undefined;
  /** Whether the call's result shows that the platform accepts calls. Default: true, unless it was throttled. */
  readonly isAccepted?: ((result: T) => boolean) | undefined;
  /**
   * Work that must be finished before the call leaves. Awaited shortly before its slot, which is taken last: however
   * long this takes, the call does not leave late. If it throws, the call ends with that error and takes no slot.
   */
  readonly prepare?: (() => Promise<void>) | undefined;
};

/**
 * Decides when a call may leave and how many are in flight. The same for one process and for a fleet: the caller of
 * `run` does not know which one it has.
 */
export type Pace = {
  /**
   * Waits for a place in flight and for a slot, then calls. Throws `PaceWaitError`, without calling, when the slot is
   * further off than the maximum wait: nothing is reserved then. That may also happen after `prepare`. The caller's
   * abort passes through.
   */
  run<T>(call: (slot: Slot) => Promise<T>, options?: RunOptions<T>): Promise<T>;
  /** Reports that the platform refused the call of this slot with 429. `retryAfterMs` is as the platform gave it. */
  throttled(slot: Slot, retryAfterMs?: number): Promise<void>;
  /** The counters so far, and the rate at this moment. */
  counts(): PaceCounts;
};

/** No line, `Retry-After` or maximum wait explains a longer one: the clock was set, so the wait is meaningless. */
const MAX_WAIT_MS = 1_260_000;

/** How soon a call comes back after that. */
const CLOCK_SET_MS = 1_000;

/**
 * A call was refused: it would wait longer for its turn than it may, or the budget is paused. Nothing was reserved and
 * nothing was called.
 */
export class PaceWaitError extends Error {
  override readonly name = 'PaceWaitError';
  /** Milliseconds from now until the call's turn; if the budget is paused or unavailable, until a retry is worthwhile. */
  readonly waitMs: number;
  readonly maxWaitMs: number;
  readonly isPaused: boolean;

  constructor(dueInMs: number, maxWaitMs: number, why: 'far' | 'paused' = 'far') {
    const waitMs = dueInMs > MAX_WAIT_MS ? CLOCK_SET_MS : dueInMs;
    super(
      why === 'paused'
        ? PAUSED
        : `the call's turn is in ${Math.ceil(waitMs)} ms, and it may wait ${maxWaitMs} ms in all`,
    );
    this.waitMs = waitMs;
    this.maxWaitMs = maxWaitMs;
    this.isPaused = why === 'paused';
  }
}

/** What every command and error says of a paused budget. */
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

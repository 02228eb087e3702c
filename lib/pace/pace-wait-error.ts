/**
 * A call was refused: it would wait longer for its turn than it may, or the budget is paused. Nothing was reserved and
 * nothing was called.
 */
export class PaceWaitError extends Error {
  override readonly name = 'PaceWaitError';
  /** Milliseconds until the call's turn; if the budget is paused, until it is worth trying again. */
  readonly waitMs: number;
  readonly maxWaitMs: number;
  /** A person paused the budget. */
  readonly isPaused: boolean;

  constructor(waitMs: number, maxWaitMs: number, why: 'far' | 'paused' = 'far') {
    super(
      why === 'paused'
        ? PAUSED
        : `the call would wait ${Math.ceil(waitMs)} ms for its turn, longer than the limit of ${maxWaitMs} ms`,
    );
    this.waitMs = waitMs;
    this.maxWaitMs = maxWaitMs;
    this.isPaused = why === 'paused';
  }
}

/** Why nothing leaves, and what ends that. */
export const PAUSED = 'paused by `pace --pause`: nothing is sent until `pace --resume`';

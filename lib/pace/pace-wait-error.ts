/**
 * A call was refused: it would wait longer for its turn than it may, or the budget is paused. Nothing was reserved and
 * nothing was called.
 */
export class PaceWaitError extends Error {
  override readonly name = 'PaceWaitError';
  /** Milliseconds until the call's turn; if the budget is paused, until it is worth trying again. */
  readonly waitMs: number;
  readonly maxWaitMs: number;

  constructor(waitMs: number, maxWaitMs: number, why: 'far' | 'paused' = 'far') {
    super(
      why === 'paused'
        ? `the budget is paused and grants no calls: try again in ${Math.ceil(waitMs)} ms`
        : `the call would wait ${Math.ceil(waitMs)} ms for its turn, longer than the limit of ${maxWaitMs} ms`,
    );
    this.waitMs = waitMs;
    this.maxWaitMs = maxWaitMs;
  }
}

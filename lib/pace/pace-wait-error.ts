/**
 * A call was not let go: its turn lies further off than it may wait, or the budget is paused. Nothing was reserved,
 * nothing was called.
 */
export class PaceWaitError extends Error {
  override readonly name = 'PaceWaitError';
  /** Milliseconds until the turn would have come; of a paused budget, until it is worth asking again. */
  readonly waitMs: number;
  readonly maxWaitMs: number;

  constructor(waitMs: number, maxWaitMs: number, why: 'far' | 'paused' = 'far') {
    super(
      why === 'paused'
        ? `the budget is paused: it grants nothing, ask again in ${Math.ceil(waitMs)} ms`
        : `the turn comes in ${Math.ceil(waitMs)} ms, over the longest wait of ${maxWaitMs} ms`,
    );
    this.waitMs = waitMs;
    this.maxWaitMs = maxWaitMs;
  }
}

/** A call was not let go: its turn lies further off than it may wait. Nothing was reserved, nothing was called. */
export class PaceWaitError extends Error {
  override readonly name = 'PaceWaitError';
  /** Milliseconds until the turn would have come. */
  readonly waitMs: number;
  readonly maxWaitMs: number;

  constructor(waitMs: number, maxWaitMs: number) {
    super(`the turn comes in ${Math.ceil(waitMs)} ms, over the longest wait of ${maxWaitMs} ms`);
    this.waitMs = waitMs;
    this.maxWaitMs = maxWaitMs;
  }
}

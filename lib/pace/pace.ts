/** A permission for one call to leave now. */
export type Slot = {
  /** Milliseconds on the pace's clock at which the slot began; says whether a 429 belongs to an older incident. */
  readonly atMs: number;
  /** How long the call waited for it, in milliseconds. */
  readonly waitedMs: number;
};

/** What the pace has done so far; the counters only grow. */
export type PaceCounts = {
  readonly granted: number;
  readonly waitedMs: number;
  readonly throttled: number;
  /** Requests a second that may leave now; below the configured rate after a 429. */
  readonly effectiveRate: number;
};

export type RunOptions = {
  readonly signal?: AbortSignal | undefined;
};

/**
 * Decides when a call may leave and how many are in flight. The same for one process and for a fleet: whoever calls
 * `run` does not know which it has.
 */
export type Pace = {
  /**
   * Waits for a place in flight and for a slot, then calls. Throws `PaceWaitError`, without calling, when the slot
   * lies further off than the longest wait allowed: nothing is reserved then. The caller's abort passes through.
   */
  run<T>(call: (slot: Slot) => Promise<T>, options?: RunOptions): Promise<T>;
  /** Tells that the platform refused the call of this slot with 429. `retryAfterMs` as the platform gave it. */
  throttled(slot: Slot, retryAfterMs?: number): Promise<void>;
  counts(): PaceCounts;
};

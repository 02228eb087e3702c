/** A permission for one call to leave now. */
export type Slot = {
  /** Milliseconds on the pace's clock at which the slot began; says whether a 429 belongs to an older incident. */
  readonly atMs: number;
  /** How long the call waited for it, in milliseconds. */
  readonly waitedMs: number;
  /** Of a fleet's budget: how often its rate had been lowered when the slot was reserved. Says the same, of all clocks. */
  readonly incidents?: number;
};

/** What the pace has done so far in this process; the counters only grow. */
export type PaceCounts = {
  /** Slots that were reserved. */
  readonly granted: number;
  /** Slots that a call left in. */
  readonly used: number;
  /** Slots that passed without a call: of a block that nobody was left for, or that came too late. */
  readonly wasted: number;
  readonly waitedMs: number;
  readonly throttled: number;
  /** Slots among those granted that were of the safe rate, since the fleet's budget could not be reached. */
  readonly safeRate: number;
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

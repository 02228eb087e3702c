/*
 * The breaker: while the platform is away, the whole fleet stops taking jobs, and one worker at a time looks whether it
 * is back. Its state is in the budget's item, where every worker sees it:
 *
 *   state                  next
 *   closed                 open: calls of a worker failed alike, and so did a call that has nothing to do with them
 *   open until `probeAt`   closed: any call that began later got a response
 *   open, probe due        open, with a later `probeAt`: by the one worker whose write is first, which then probes
 *
 * There is no third state "half open": the write that elects the prober moves `probeAt`, so if the prober dies, the
 * next one is elected when that has passed. A closed breaker is no attribute at all: it is never written, and seen in
 * the responses of the budget that workers read anyway.
 *
 * A job cannot open it. Failures in a row only raise the suspicion; what opens it is that a harmless read fails too,
 * which shares nothing with a job but the platform, its address and the token.
 */

/** Why a call got no response from the platform: an outage if others get none either. */
export type OutageCause = 'unreachable' | 'refused token' | 'server errors' | 'not the platform';

/** What a call says about the platform. `neither`: it was throttled, or its answer was damaged. */
export type CallOutcome = 'answered' | 'neither' | OutageCause;

/** An open breaker; times in epoch milliseconds. */
export type OpenBreaker = {
  /** When the first of the failures in a row ended. */
  readonly sinceMs: number;
  readonly cause: string;
  /** When the next probe is due. */
  readonly probeAtMs: number;
};

/**
 * The place where the breaker is. Each write is one conditional update. Throws `TableError` if the table cannot be
 * reached; the write may have been made all the same.
 */
export type BreakerItem = {
  /** Undefined if it is closed. Sees every write that got a response. */
  read(): Promise<OpenBreaker | undefined>;
  /** Opens it, unless it is open. */
  open(breaker: OpenBreaker): Promise<void>;
  /** Moves the next probe; false if another worker was faster, or it is closed. */
  takeProbe(seen: OpenBreaker, nextProbeAtMs: number): Promise<boolean>;
  /** Closes it, unless it was opened again since. */
  close(seen: OpenBreaker): Promise<void>;
};

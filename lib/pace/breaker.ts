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
type OutageCause = 'unreachable' | 'refused token' | 'server errors' | 'not the platform';

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

/** Failures of one worker's calls in a row; undefined if the last call got a response. */
export type Streak =
  | { readonly failures: number; readonly sinceMs: number; readonly cause: OutageCause }
  | undefined;

/** How many failures in a row are worth a probe. */
const SUSPICIOUS = 3;

/** How long calls must have failed before the breaker opens: a shorter fault is over before anybody has read of it. */
export const LEAST_OUTAGE_MS = 2_000;

/** How often the platform is probed during an outage. */
export const PROBE_EVERY_MS = 10_000;

/** The streak after another call. */
export function afterCall(streak: Streak, outcome: CallOutcome, nowMs: number): Streak {
  if (outcome === 'answered') return undefined;
  if (outcome === 'neither') return streak;
  return { failures: (streak?.failures ?? 0) + 1, sinceMs: streak?.sinceMs ?? nowMs, cause: outcome };
}

export const isSuspicious = (streak: Streak): streak is Exclude<Streak, undefined> =>
  (streak?.failures ?? 0) >= SUSPICIOUS;

/** The breaker that a streak opens, once a probe has failed too. */
export const openedBy = ({ sinceMs, cause }: Exclude<Streak, undefined>, nowMs: number): OpenBreaker => ({
  sinceMs,
  cause,
  probeAtMs: nowMs + PROBE_EVERY_MS,
});

/**
 * When the next probe is due for a worker that has seen this state since `seenMs`. A prober whose clock is ahead cannot
 * keep the others from probing: what counts then is how long the state has stood.
 */
export const probeDueMs = ({ probeAtMs }: OpenBreaker, seenMs: number): number =>
  Math.min(probeAtMs, seenMs + PROBE_EVERY_MS);

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

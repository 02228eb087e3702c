import { TableError } from '../table/index.ts';
import type { Budget, BudgetItem, OpenBreaker } from './budget.ts';
import type { Clock } from './clock.ts';

type ChangeBudget = Parameters<BudgetItem['change']>[1];

/*
 * The breaker: while the platform is unavailable, the whole fleet stops taking jobs, and one worker at a time
 * probes. The budget stores the breaker's state: absent means closed. An open breaker closes when a call that began
 * after it opened gets a response. Once `probeAtMs` has passed, the worker that writes a later `probeAtMs` probes; if
 * that worker dies, the next one is elected in the same way.
 *
 * Failures of jobs cannot open the breaker by themselves: several in a row only raise a suspicion. The breaker
 * opens if a harmless read also fails, since that read has only the platform, its address and the token in common
 * with a job.
 */

/** Why a call got no usable response. If other calls get none either, the platform is unavailable. */
type OutageCause = 'unreachable' | 'refused token' | 'server errors' | 'not the platform';

/** What a call shows about the platform. `neither`: nothing, for example because the call was throttled. */
export type CallOutcome = 'answered' | 'neither' | OutageCause;

/** Stops jobs while all calls to the platform fail in the same way. */
export type Breaker = {
  /** Reports a call that has just ended and began `tookMs` ago. */
  ended(outcome: CallOutcome, tookMs: number): void;
  /** Reports a budget that was read or written. */
  onBudget(budget: Pick<Budget, 'breaker' | 'tokenRefusedAtMs'>): void;
  /**
   * Milliseconds until the next probe; undefined if jobs may be taken. May read the budget and send a probe. Do not
   * await it while holding a concurrency slot: the probe may need that slot.
   */
  blockedMs(): Promise<number | undefined>;
  /** Like `blockedMs`, but never reads or probes; one second while an outage is suspected. */
  knownBlockedMs(): number | undefined;
  /**
   * Like `knownBlockedMs`, but for a job that has already sent a request: only a confirmed outage stops it, since
   * its own failures may have raised the suspicion. If there is a suspicion, starts to check it in the background.
   */
  knownOutageMs(): number | undefined;
};

type FleetBreakerOptions = {
  readonly item: Pick<BudgetItem, 'read' | 'change'>;
  /** A harmless call, unrelated to any job. Must not throw. */
  readonly probe: () => Promise<CallOutcome>;
  readonly clock: Clock;
  readonly onOpen?: (breaker: OpenBreaker) => void;
  readonly onClosed?: (breaker: OpenBreaker) => void;
};

/** This many failures in a row raise a suspicion. */
const SUSPICIOUS_FAILURES = 3;

/** How long calls must have failed before the breaker opens. Retries are enough for shorter outages. */
const MIN_OUTAGE_MS = 2_000;

const PROBE_EVERY_MS = 10_000;

/** Maximum age of the state in memory before it is read again: of a closed breaker, and of an open one. */
const MAX_CLOSED_AGE_MS = 30_000;
const MAX_OPEN_AGE_MS = 1_000;

/** How long no new suspicion is raised after a probe has refuted one: the jobs themselves caused the failures. */
const REFUTED_MS = 5_000;

/** How long a call waits while an outage is suspected: longer than a probe takes. */
const SUSPECTED_MS = 1_000;

/** For this long after another worker ended an outage, a new suspicion stops only this worker and not the fleet. */
const LOCAL_OUTAGE_MS = 60_000;

/* Ages are measured by a clock that never changes (`steady`). Only the times in the budget are from workers' own clocks. */

type Streak = { readonly failures: number; readonly sinceMs: number; readonly cause: OutageCause };

type Known = {
  readonly breaker: OpenBreaker;
  /** When this worker first saw the breaker open. */
  readonly openMs: number;
  /** When this worker first saw the breaker's present state. */
  readonly seenMs: number;
  /** Whether only this worker is stopped, while the fleet's breaker is closed. */
  readonly isLocal: boolean;
};

type State = FleetBreakerOptions & {
  readonly steady: () => number;
  streak: Streak | undefined;
  known: Known | undefined;
  refreshedMs: number;
  refutedMs: number;
  closedByOthersMs: number;
  underWay: Promise<number | undefined> | undefined;
};

/** Creates the breaker of a fleet, for one worker. While the table is unavailable, each worker decides for itself. */
export function createFleetBreaker(options: FleetBreakerOptions): Breaker {
  const never = Number.NEGATIVE_INFINITY;
  const { now, steady = now } = options.clock;
  const refusedToken = createRefusedTokenRecord(options.item, { now, steady });
  const state: State = {
    ...options,
    steady,
    streak: undefined,
    known: undefined,
    refreshedMs: never,
    refutedMs: never,
    closedByOthersMs: never,
    underWay: undefined,
  };
  const blockedMs = () => {
    if (isClear(state)) return Promise.resolve(undefined);
    state.underWay ??= refresh(state).finally(() => {
      state.underWay = undefined;
    });
    return state.underWay;
  };
  const outageMs = () => state.known && Math.max(0, untilProbeMs(state, state.known));
  return {
    blockedMs,
    ended(outcome, tookMs) {
      const nowMs = steady();
      const { known, streak } = state;
      refusedToken.ended(outcome, nowMs - tookMs);
      if (outcome === 'answered') state.streak = undefined;
      else if (outcome !== 'neither')
        state.streak = {
          failures: (streak?.failures ?? 0) + 1,
          sinceMs: streak?.sinceMs ?? nowMs,
          cause: outcome,
        };
      if (outcome === 'answered' && known !== undefined && nowMs - tookMs > known.openMs)
        void close(state, known).catch(() => undefined);
    },
    onBudget({ breaker, tokenRefusedAtMs }) {
      refusedToken.onBudget(tokenRefusedAtMs);
      if (breaker === undefined && state.known !== undefined) state.refreshedMs = never;
      else applyState(state, breaker);
    },
    knownBlockedMs: () => outageMs() ?? (isSuspected(state) ? SUSPECTED_MS : undefined),
    knownOutageMs() {
      // Not awaited, since the probe may need the concurrency slot that the caller holds.
      if (isSuspected(state)) void blockedMs().catch(() => undefined);
      return outageMs();
    },
  };
}

const isClear = (state: State): boolean =>
  state.known === undefined && !isSuspected(state) && state.steady() - state.refreshedMs <= MAX_CLOSED_AGE_MS;

const isSuspicious = (streak: Streak | undefined): streak is Streak =>
  (streak?.failures ?? 0) >= SUSPICIOUS_FAILURES;

const isSuspected = ({ streak, refutedMs, steady }: State): boolean =>
  isSuspicious(streak) && steady() - refutedMs > REFUTED_MS;

async function refresh(state: State): Promise<number | undefined> {
  const { steady, known } = state;
  const maxAgeMs = known === undefined ? MAX_CLOSED_AGE_MS : MAX_OPEN_AGE_MS;
  if (known?.isLocal !== true && steady() - state.refreshedMs > maxAgeMs) await readItem(state);
  if (state.known === undefined && isSuspected(state)) await probeSuspicion(state);
  if (state.known === undefined) return undefined;
  return probeIfDue(state, state.known);
}

/** Probes until the suspicion is refuted, or has lasted long enough to open the breaker. */
async function probeSuspicion(state: State): Promise<void> {
  const { clock, steady, probe } = state;
  for (;;) {
    const outcome = await probe();
    const { streak } = state;
    if (outcome === 'answered' || outcome === 'neither' || !isSuspicious(streak)) {
      state.refutedMs = steady();
      state.streak = undefined;
      return;
    }
    const leftMs = streak.sinceMs + MIN_OUTAGE_MS - steady();
    if (leftMs <= 0) return open(state, streak);
    await clock.sleep(leftMs);
  }
}

/** Opens the fleet's breaker, or only this worker's if another worker has ended an outage in the last minute. */
async function open(state: State, { sinceMs: openMs, cause }: Streak): Promise<void> {
  const { clock, steady, item } = state;
  const nowMs = clock.now();
  const breaker = { sinceMs: nowMs - (steady() - openMs), cause, probeAtMs: nowMs + PROBE_EVERY_MS };
  const isLocal = steady() - state.closedByOthersMs < LOCAL_OUTAGE_MS;
  const opened: ChangeBudget = (budget) => (budget.breaker ? undefined : { ...budget, breaker });
  if (!isLocal) await ifAvailable(() => item.change('open the breaker in', opened));
  state.known = { breaker, openMs, seenMs: steady(), isLocal };
  state.onOpen?.(breaker);
}

/**
 * How long until this worker may probe: until `probeAtMs`, or until the state has not changed for one interval,
 * whichever is first. The clock of the worker that wrote `probeAtMs` may be ahead.
 */
const untilProbeMs = ({ clock, steady }: State, { breaker, seenMs }: Known): number =>
  Math.min(breaker.probeAtMs - clock.now(), seenMs + PROBE_EVERY_MS - steady());

async function probeIfDue(state: State, known: Known): Promise<number | undefined> {
  const { clock, steady, item, probe } = state;
  const { breaker, isLocal } = known;
  const dueMs = untilProbeMs(state, known);
  if (dueMs > 0) return dueMs;
  const next = { ...breaker, probeAtMs: clock.now() + PROBE_EVERY_MS };
  const takeProbe: ChangeBudget = (budget) =>
    isStill(budget, breaker) && budget.breaker?.probeAtMs === breaker.probeAtMs
      ? { ...budget, breaker: next }
      : undefined;
  const change = async () => ({ elected: await item.change('take the probe of', takeProbe) });
  const write = isLocal ? undefined : await ifAvailable(change);
  if (write !== undefined && write.elected === undefined) {
    state.refreshedMs = Number.NEGATIVE_INFINITY;
    return MAX_OPEN_AGE_MS;
  }
  const taken = { ...known, breaker: next, seenMs: steady() };
  state.known = taken;
  if ((await probe()) === 'answered') {
    await close(state, taken);
    return undefined;
  }
  return Math.max(0, untilProbeMs(state, taken));
}

async function close(state: State, { breaker, isLocal }: Known): Promise<void> {
  if (state.known?.breaker.sinceMs === breaker.sinceMs) {
    state.known = undefined;
    state.streak = undefined;
    state.onClosed?.(breaker);
  }
  const closed: ChangeBudget = (budget) =>
    isStill(budget, breaker) ? { ...budget, breaker: undefined } : undefined;
  if (!isLocal) await ifAvailable(() => state.item.change('close the breaker in', closed));
}

const isStill = ({ breaker }: Budget, seen: OpenBreaker): boolean => breaker?.sinceMs === seen.sinceMs;

async function readItem(state: State): Promise<void> {
  const read = await ifAvailable(state.item.read);
  // While the table is unavailable, the last state remains.
  if (read === undefined) state.refreshedMs = state.steady();
  else applyState(state, read.breaker);
}

function applyState(state: State, breaker: OpenBreaker | undefined): void {
  const { known } = state;
  const nowMs = state.steady();
  state.refreshedMs = nowMs;
  if (known?.isLocal) return;
  if (breaker === undefined) {
    if (known === undefined) return;
    state.known = undefined;
    state.closedByOthersMs = nowMs;
    state.streak = undefined;
    state.onClosed?.(known.breaker);
    return;
  }
  const isSame = known?.breaker.probeAtMs === breaker.probeAtMs;
  const openMs = known?.breaker.sinceMs === breaker.sinceMs ? known.openMs : nowMs;
  if (known === undefined) state.onOpen?.(breaker);
  state.known = { breaker, openMs, seenMs: isSame ? known.seenMs : nowMs, isLocal: false };
}

/** Returns the result of `work`; undefined if the table is unavailable. */
async function ifAvailable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TableError) return undefined;
    throw error;
  }
}

/**
 * Minimum time between two records of this worker that its token is refused. Without it, this worker would write the
 * record again and again if another worker's token is accepted, since that deletes the record each time.
 */
const RECORD_EVERY_MS = 60_000;

/**
 * Records in the budget since when the platform has refused the token. The record stays until a call that began later
 * is accepted. If a write fails, it is tried again after a later call.
 */
function createRefusedTokenRecord(
  item: Pick<BudgetItem, 'change'>,
  { now, steady = now }: Pick<Clock, 'now' | 'steady'>,
) {
  let sinceMs: number | undefined;
  /** When this worker learned of the refusal, and when it last recorded one, on the steady clock. */
  let learnedMs = Number.NEGATIVE_INFINITY;
  let writtenMs = Number.NEGATIVE_INFINITY;
  function setSince(nextMs: number | undefined): void {
    if (nextMs !== sinceMs) learnedMs = steady();
    sinceMs = nextMs;
  }
  function writeSince(nextMs: number | undefined): void {
    const before = sinceMs;
    setSince(nextMs);
    if (nextMs !== undefined) writtenMs = steady();
    const next: ChangeBudget = (budget) =>
      (budget.tokenRefusedAtMs === undefined) === (nextMs === undefined)
        ? undefined
        : { ...budget, tokenRefusedAtMs: nextMs };
    item.change('record whether the token is refused in', next).catch(() => {
      sinceMs = before;
      writtenMs = Number.NEGATIVE_INFINITY;
    });
  }
  return {
    /** Reports how a call ended, and when it began on the steady clock. */
    ended(outcome: CallOutcome, beganMs: number): void {
      const mayWrite = sinceMs === undefined && steady() - writtenMs >= RECORD_EVERY_MS;
      if (outcome === 'refused token' && mayWrite) writeSince(now());
      if (outcome === 'answered' && sinceMs !== undefined && beganMs >= learnedMs) writeSince(undefined);
    },
    onBudget: setSince,
  };
}

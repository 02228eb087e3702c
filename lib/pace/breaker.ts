import { TableError } from '../table/index.ts';
import type { Budget, BudgetItem, ChangeBudget, OpenBreaker } from './budget.ts';
import type { Clock } from './slots.ts';
import { createTokenMark } from './token-mark.ts';

/*
 * The breaker: while the platform is away, the whole fleet stops taking jobs, and one worker at a time looks whether it
 * is back. Its state is in the budget: absent (closed), or open until any call that began later gets a response. Once
 * `probeAt` has passed, the worker whose write moves it is the one that probes; if it dies, the next one is elected so.
 *
 * A job cannot open it. Failures in a row only raise the suspicion; what opens it is that a harmless read fails too,
 * which shares nothing with a job but the platform, its address and the token.
 */

/** Why a call got no response from the platform: an outage if others get none either. */
type OutageCause = 'unreachable' | 'refused token' | 'server errors' | 'not the platform';

/** What a call says about the platform. `neither`: it was throttled, or shows nothing. */
export type CallOutcome = 'answered' | 'neither' | OutageCause;

export type Breaker = {
  /** Reports a call that ended now. It began `tookMs` ago. */
  ended(outcome: CallOutcome, tookMs: number): void;
  /** Reports what a response of the budget said. */
  seen(budget: Pick<Budget, 'breaker' | 'tokenRefusedAtMs'>): void;
  /**
   * Undefined if jobs may be taken, else the milliseconds until the next probe. May look at the item and probe, so it
   * is not for a call that has a place in flight, which the probe may need.
   */
  blockedMs(): Promise<number | undefined>;
  /** The same by what is known, without a look or a probe; one second if an outage is suspected. */
  knownBlockedMs(): number | undefined;
  /** The same for a job whose request has left: a suspicion, which its own failures may have raised, is looked into, and stops it only once it is confirmed. */
  knownOutageMs(): number | undefined;
};

type FleetBreakerOptions = {
  readonly item: Pick<BudgetItem, 'read' | 'change'>;
  /** A call that does no harm and has nothing to do with any job. Must not throw. */
  readonly probe: () => Promise<CallOutcome>;
  readonly clock: Clock;
  readonly onOpen?: (breaker: OpenBreaker) => void;
  readonly onClosed?: (breaker: OpenBreaker) => void;
};

const SUSPICIOUS = 3;

/** How long calls must have failed before the breaker opens: a shorter fault is over before anybody has read of it. */
const MIN_OUTAGE_MS = 2_000;

const PROBE_EVERY_MS = 10_000;

/** How old the knowledge that the breaker is closed, or open, may be. */
const CLOSED_KNOWN_MS = 30_000;
const OPEN_KNOWN_MS = 1_000;

/** No suspicion is raised again so soon after one that a probe refuted: what fails then are the jobs. */
const REFUTED_MS = 5_000;

/** How long a call waits that would leave while an outage is suspected; by then a probe has shown more. */
const SUSPECTED_MS = 1_000;

/** A worker whose outage another one ended so recently has one of its own, and does not stop the fleet again. */
const OWN_OUTAGE_MS = 60_000;

/* Ages are measured by a clock that is never set. Only what the budget holds is by the clocks of its workers. */

type Streak = { readonly failures: number; readonly sinceMs: number; readonly cause: OutageCause };

type Known = {
  readonly breaker: OpenBreaker;
  /** Since when it is known here that the breaker is open, and since when as it is now. */
  readonly openMs: number;
  readonly seenMs: number;
  /** Only this worker is cut off: the fleet's breaker is closed. */
  readonly isOwn: boolean;
};

type State = FleetBreakerOptions & {
  readonly steady: () => number;
  streak: Streak | undefined;
  known: Known | undefined;
  lookedMs: number;
  refutedMs: number;
  closedByOthersMs: number;
  underWay: Promise<number | undefined> | undefined;
};

/** The breaker of a fleet, for one worker. While the table is away it is the worker's own. */
export function createFleetBreaker(options: FleetBreakerOptions): Breaker {
  const never = Number.NEGATIVE_INFINITY;
  const { now, steady = now } = options.clock;
  const tokenMark = createTokenMark(options.item, { now, steady });
  const state: State = {
    ...options,
    steady,
    streak: undefined,
    known: undefined,
    lookedMs: never,
    refutedMs: never,
    closedByOthersMs: never,
    underWay: undefined,
  };
  const blockedMs = () => {
    if (isClear(state)) return Promise.resolve(undefined);
    state.underWay ??= look(state).finally(() => {
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
      tokenMark.ended(outcome, nowMs - tookMs);
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
    seen({ breaker, tokenRefusedAtMs }) {
      tokenMark.seen(tokenRefusedAtMs);
      if (breaker === undefined && state.known !== undefined) state.lookedMs = never;
      else learn(state, breaker);
    },
    knownBlockedMs: () => outageMs() ?? (isSuspected(state) ? SUSPECTED_MS : undefined),
    knownOutageMs() {
      // Not awaited: its probe may need the place in flight that the caller has.
      if (isSuspected(state)) void blockedMs().catch(() => undefined);
      return outageMs();
    },
  };
}

const isClear = (state: State): boolean =>
  state.known === undefined && !isSuspected(state) && state.steady() - state.lookedMs <= CLOSED_KNOWN_MS;

const isSuspicious = (streak: Streak | undefined): streak is Streak => (streak?.failures ?? 0) >= SUSPICIOUS;

const isSuspected = ({ streak, refutedMs, steady }: State): boolean =>
  isSuspicious(streak) && steady() - refutedMs > REFUTED_MS;

async function look(state: State): Promise<number | undefined> {
  const { steady, known } = state;
  const goodForMs = known === undefined ? CLOSED_KNOWN_MS : OPEN_KNOWN_MS;
  if (known?.isOwn !== true && steady() - state.lookedMs > goodForMs) await readItem(state);
  if (state.known === undefined && isSuspected(state)) await check(state);
  if (state.known === undefined) return undefined;
  return probeIfDue(state, state.known);
}

async function check(state: State): Promise<void> {
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

/** Opens the fleet's breaker, or this worker's own if another one has only just ended such an outage. */
async function open(state: State, { sinceMs: openMs, cause }: Streak): Promise<void> {
  const { clock, steady, item } = state;
  const nowMs = clock.now();
  const breaker = { sinceMs: nowMs - (steady() - openMs), cause, probeAtMs: nowMs + PROBE_EVERY_MS };
  const isOwn = steady() - state.closedByOthersMs < OWN_OUTAGE_MS;
  const opened: ChangeBudget = (budget) => (budget.breaker ? undefined : { ...budget, breaker });
  if (!isOwn) await ifReached(() => item.change('open the breaker in', opened));
  state.known = { breaker, openMs, seenMs: steady(), isOwn };
  state.onOpen?.(breaker);
}

/** Also by how long its state has stood: a prober whose clock is ahead cannot keep the others from probing. */
const untilProbeMs = ({ clock, steady }: State, { breaker, seenMs }: Known): number =>
  Math.min(breaker.probeAtMs - clock.now(), seenMs + PROBE_EVERY_MS - steady());

async function probeIfDue(state: State, known: Known): Promise<number | undefined> {
  const { clock, steady, item, probe } = state;
  const { breaker, isOwn } = known;
  const dueMs = untilProbeMs(state, known);
  if (dueMs > 0) return dueMs;
  const next = { ...breaker, probeAtMs: clock.now() + PROBE_EVERY_MS };
  const take: ChangeBudget = (budget) =>
    isStill(budget, breaker) && budget.breaker?.probeAtMs === breaker.probeAtMs
      ? { ...budget, breaker: next }
      : undefined;
  const change = async () => ({ elected: await item.change('take the probe of', take) });
  const write = isOwn ? undefined : await ifReached(change);
  if (write !== undefined && write.elected === undefined) {
    state.lookedMs = Number.NEGATIVE_INFINITY;
    return OPEN_KNOWN_MS;
  }
  const taken = { ...known, breaker: next, seenMs: steady() };
  state.known = taken;
  if ((await probe()) === 'answered') {
    await close(state, taken);
    return undefined;
  }
  return Math.max(0, untilProbeMs(state, taken));
}

async function close(state: State, { breaker, isOwn }: Known): Promise<void> {
  if (state.known?.breaker.sinceMs === breaker.sinceMs) {
    state.known = undefined;
    state.streak = undefined;
    state.onClosed?.(breaker);
  }
  const closed: ChangeBudget = (budget) =>
    isStill(budget, breaker) ? { ...budget, breaker: undefined } : undefined;
  if (!isOwn) await ifReached(() => state.item.change('close the breaker in', closed));
}

const isStill = ({ breaker }: Budget, seen: OpenBreaker): boolean => breaker?.sinceMs === seen.sinceMs;

async function readItem(state: State): Promise<void> {
  const read = await ifReached(state.item.read);
  // While the table is away, what is known stands.
  if (read === undefined) state.lookedMs = state.steady();
  else learn(state, read.breaker);
}

function learn(state: State, breaker: OpenBreaker | undefined): void {
  const { known } = state;
  const nowMs = state.steady();
  state.lookedMs = nowMs;
  if (known?.isOwn) return;
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
  state.known = { breaker, openMs, seenMs: isSame ? known.seenMs : nowMs, isOwn: false };
}

async function ifReached<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TableError) return undefined;
    throw error;
  }
}

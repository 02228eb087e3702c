import { TableError } from '../table/index.ts';
import type { Budget, BudgetItem, OpenBreaker } from './budget.ts';
import type { Clock } from './clock.ts';

type ChangeBudget = Parameters<BudgetItem['change']>[1];

/*
 * The breaker: while the platform is unavailable, the whole fleet stops taking jobs, and one worker at a time
 * probes. The budget stores its state: absent means closed; it is open until a call that began later gets a
 * response. Once `probeAt` has passed, the worker that writes a later `probeAt` is the one that probes; if it
 * dies, the next one is elected the same way.
 *
 * Failures of jobs alone cannot open it: several in a row only raise a suspicion. The breaker opens if a
 * harmless read fails too, which has only the platform, its address and the token in common with a job.
 */

/** Why a call got no response from the platform. It is an outage if other calls get none either. */
type OutageCause = 'unreachable' | 'refused token' | 'server errors' | 'not the platform';

/** What a call shows about the platform. `neither`: it was throttled, or shows nothing. */
export type CallOutcome = 'answered' | 'neither' | OutageCause;

/** Stops jobs while all calls to the platform fail in the same way. */
export type Breaker = {
  /** Reports a call that ended now and began `tookMs` ago. */
  ended(outcome: CallOutcome, tookMs: number): void;
  /** Reports a budget that was read or written. */
  seen(budget: Pick<Budget, 'breaker' | 'tokenRefusedAtMs'>): void;
  /**
   * How many milliseconds until the next probe; undefined if jobs may be taken. It may read the item and
   * probe, so a call that has a place in flight must not wait for it: the probe may need that place.
   */
  blockedMs(): Promise<number | undefined>;
  /** The same answer from memory, without a read or a probe; one second if an outage is suspected. */
  knownBlockedMs(): number | undefined;
  /**
   * The same for a job whose request was sent. The job's own failures may have raised a suspicion: that
   * starts a check, and only a confirmed outage stops the job.
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

const SUSPICIOUS = 3;

/** How long calls must have failed before the breaker opens: shorter faults are left to retries. */
const MIN_OUTAGE_MS = 2_000;

const PROBE_EVERY_MS = 10_000;

/** How long a stored state is trusted without reading it again, if it is closed, or open. */
const CLOSED_KNOWN_MS = 30_000;
const OPEN_KNOWN_MS = 1_000;

/** After a probe has refuted a suspicion, no new one is raised for this long: then the jobs themselves are at fault. */
const REFUTED_MS = 5_000;

/** How long a call waits while an outage is suspected: the probe ends sooner than that. */
const SUSPECTED_MS = 1_000;

/** For this long after another worker ended an outage, a new suspicion stops only this worker and not the fleet. */
const OWN_OUTAGE_MS = 60_000;

/* Ages are measured by a clock that is never set. Only times in the budget are by the workers' own clocks. */

type Streak = { readonly failures: number; readonly sinceMs: number; readonly cause: OutageCause };

type Known = {
  readonly breaker: OpenBreaker;
  /** When this worker first saw the breaker open. */
  readonly openMs: number;
  /** When this worker first saw the breaker's present state. */
  readonly seenMs: number;
  /** Whether only this worker is cut off: the fleet's breaker is closed. */
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

/**
 * Creates the breaker of a fleet, for one worker. While the table is unavailable, each worker has a breaker of its own.
 */
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
      // Not awaited: the probe may need the place in flight that the caller has.
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

/** Opens the fleet's breaker, or this worker's own if another worker has only just ended an outage. */
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

/**
 * How long until this worker may probe: when `probeAt` has passed, or when the state has not changed for one
 * interval, in case the prober's clock is ahead.
 */
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
  // While the table is unavailable, the last state remains.
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

/** How often a worker may record at most that its token is refused: another worker's token may be accepted. */
const MARK_EVERY_MS = 60_000;

/**
 * Creates the record, in the budget, of since when the platform has refused the token. It lasts until a call
 * that began later is accepted, even if no calls are made. A write that fails is repeated after a later call.
 */
function createTokenMark(
  item: Pick<BudgetItem, 'change'>,
  { now, steady = now }: Pick<Clock, 'now' | 'steady'>,
) {
  let sinceMs: number | undefined;
  /** When this worker learned of the refusal, and when it last wrote it, by a clock that is never set. */
  let heardMs = Number.NEGATIVE_INFINITY;
  let markedMs = Number.NEGATIVE_INFINITY;
  function hear(nextMs: number | undefined): void {
    if (nextMs !== sinceMs) heardMs = steady();
    sinceMs = nextMs;
  }
  function mark(nextMs: number | undefined): void {
    const before = sinceMs;
    hear(nextMs);
    if (nextMs !== undefined) markedMs = steady();
    const marked: ChangeBudget = (budget) =>
      (budget.tokenRefusedAtMs === undefined) === (nextMs === undefined)
        ? undefined
        : { ...budget, tokenRefusedAtMs: nextMs };
    item.change('record whether the token is refused in', marked).catch(() => {
      sinceMs = before;
      markedMs = Number.NEGATIVE_INFINITY;
    });
  }
  return {
    /** Reports how a call ended, and when it began, by the clock that is never set. */
    ended(outcome: CallOutcome, beganMs: number): void {
      const mayMark = sinceMs === undefined && steady() - markedMs >= MARK_EVERY_MS;
      if (outcome === 'refused token' && mayMark) mark(now());
      if (outcome === 'answered' && sinceMs !== undefined && beganMs >= heardMs) mark(undefined);
    },
    seen: hear,
  };
}

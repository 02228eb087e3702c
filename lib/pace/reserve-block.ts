import {
  addUsage,
  BLOCK_MS,
  type Budget,
  type BudgetView,
  type createUsageReporter,
  fullSpacing,
  LATE_MS,
  latestLineMs,
  lineFacts,
  lineSpacing,
  lineStartMs,
  maxWaitReport,
  withAnswered,
} from './budget.ts';
import { type AdjustedTime, type Clock, trackTime } from './clock.ts';
import { PaceWaitError, type Slot } from './pace.ts';
import { isProbing, probed, reopened, restartIfIdle } from './throttle-state.ts';

/** What a call requires of its slot. */
export type SlotRequest = {
  readonly calledAt: AdjustedTime;
  readonly signal: AbortSignal | undefined;
  readonly demand: () => Demand;
  readonly operation?: string | undefined;
};

/** The calls of this worker that need slots. */
export type Demand = {
  /** Calls that hold a concurrency slot and wait for a slot of the line, including the call that reserves. */
  readonly waiting: number;
  /** The number of calls so far that were ready soon after their arrival. */
  readonly arrived: number;
};

/** A block: slots of the line that are reserved together for one worker. */
type Block = {
  /** The times of the slots in epoch milliseconds, ascending. */
  readonly slots: readonly number[];
  readonly toleranceMs: number;
  /** How late the slots may be used, in milliseconds. */
  readonly lateMs: number;
  /** The budget's `incidents` when the slots were reserved. When that number is higher, the slots are void. */
  readonly throttleEpoch: number;
  /** `held`: its first slot is so late that the budget must be read again before it. `begun`: some slots were used. */
  readonly state: 'held' | 'checked' | 'begun';
};

type UsageReporter = ReturnType<typeof createUsageReporter>;

/** A worker's access to the line. */
type Line = {
  readonly rate: number;
  readonly maxWaitMs: number;
  readonly reserve: 'single' | 'batch';
  readonly clock: Clock;
  readonly onSetBack?: (() => void) | undefined;
  readonly view: BudgetView;
  readonly usage: UsageReporter;
  readonly acceptance: ReturnType<typeof createAcceptanceTracker>;
  /** When operations were last accepted for this worker; a reservation reports it to the fleet. Default: none. */
  readonly answered?: ReadonlyMap<string, number> | undefined;
};

type BlockRequest = SlotRequest & {
  readonly forecast: () => {
    /** How long after the response the first slot can be used, in milliseconds. */
    readonly aheadMs: number;
    /** How late the slots may be used, in milliseconds. */
    readonly lateMs: number;
    /** Calls that are expected to follow while the reserved block is in use. */
    readonly followers: number;
  };
};

/**
 * After a 429, no slot that was reserved before it is used later than this, in milliseconds: a reserved block begins within
 * 250 ms of a read of the budget, and lasts 250 ms.
 */
export const VOID_AFTER_MS = 1_000;

/** Minimum time between a probe whose outcome stays unknown and the next probe, in milliseconds. */
const UNKNOWN_PROBE_MS = 1_000;

/** Maximum age of a cached budget that may reject a call, in milliseconds. */
export const MAX_VIEW_AGE_MS = 1_000;

/**
 * How soon to check a paused budget again, in milliseconds: `PAUSED_POLL_MS` for a call that waits here,
 * `PAUSED_DELAY_MS` for a call that is rejected and tries again.
 */
const PAUSED_POLL_MS = 5_000;
const PAUSED_DELAY_MS = 60_000;

/**
 * A worker waits a quarter of the time until the next probe is due before it checks whether another worker's probe has
 * ended: at least and at most this long, in milliseconds.
 */
const MIN_CHECK_MS = 250;
const MAX_CHECK_MS = 5_000;

/**
 * Reserves slots. Waits while the budget is paused or no probe is due. Throws `PaceWaitError`; rethrows errors of
 * the item.
 */
export async function reserveBlock(request: BlockRequest, line: Line): Promise<Block> {
  const { view, usage, onSetBack } = line;
  let budget = await view.known();
  for (;;) {
    request.signal?.throwIfAborted();
    const obstacle = obstacleIn(budget, request, line);
    if (obstacle === undefined) {
      let plan: Plan | undefined;
      const changed = await view.change('reserve slots of', (current) => {
        plan = obstacleIn(current, request, line) ? undefined : planBlock(current, request, line);
        return plan?.budget;
      });
      if (changed !== undefined && plan !== undefined) {
        usage.reported(plan.report);
        if (plan.isStray) onSetBack?.();
        return plan.block;
      }
      budget = await view.known();
    } else budget = await overcome(obstacle, budget, { request, line });
  }
}

type Obstacle =
  | { readonly kind: 'paused' }
  | { readonly kind: 'too-late'; readonly waitMs: number }
  | { readonly kind: 'probe'; readonly inMs: number };

function obstacleIn(budget: Budget, { calledAt, operation }: SlotRequest, line: Line): Obstacle | undefined {
  const { rate, maxWaitMs, clock, view, acceptance } = line;
  if (budget.pausedAtMs !== undefined) return { kind: 'paused' };
  const startMs = lineStartMs(budget, { maxWaitMs, nowMs: clock.now() });
  if (startMs === undefined) return undefined;
  const dueMs = startMs - lineSpacing(rate, budget, clock.now()).toleranceMs;
  if (dueMs - calledAt() > maxWaitMs) return { kind: 'too-late', waitMs: dueMs - calledAt() };
  if (!isProbing(budget.throttle) || acceptance.acceptedSince(budget.incidents)) return undefined;
  const inMs = dueMs + yieldMs(budget, operation) - view.leadMs() - clock.now();
  return inMs > 0 ? { kind: 'probe', inMs } : undefined;
}

/**
 * Delay before the operation that got the last 429 may probe again, in milliseconds, so that another operation
 * probes first.
 */
const YIELD_MS = 300;

function yieldMs({ operations = {}, throttle }: Budget, operation = ''): number {
  const { refusedAtMs = Number.NEGATIVE_INFINITY } = operations[operation] ?? {};
  const isLast = isProbing(throttle) && refusedAtMs >= throttle.refusedAtMs - MAX_VIEW_AGE_MS;
  return isLast ? YIELD_MS : 0;
}

/**
 * Waits until it makes sense to try again, and returns the budget as it is then. Throws `PaceWaitError` if the call may
 * not wait that long.
 */
async function overcome(
  obstacle: Obstacle,
  budget: Budget,
  { request, line }: { readonly request: SlotRequest; readonly line: Line },
): Promise<Budget> {
  const { maxWaitMs, clock, view, acceptance } = line;
  const { calledAt, signal } = request;
  if (obstacle.kind === 'probe') {
    await acceptance.sleep(checkAfterMs(obstacle.inMs), signal);
    return acceptance.acceptedSince(budget.incidents) ? budget : view.read();
  }
  if (view.ageMs() > MAX_VIEW_AGE_MS) return view.read();
  if (obstacle.kind === 'too-late')
    throw new PaceWaitError(obstacle.waitMs - (clock.now() - calledAt()), maxWaitMs);
  if (Number.isFinite(maxWaitMs)) throw new PaceWaitError(PAUSED_DELAY_MS, maxWaitMs, 'paused');
  await clock.sleep(PAUSED_POLL_MS, signal);
  return view.read();
}

const checkAfterMs = (probeMs: number): number =>
  probeMs <= MIN_CHECK_MS ? probeMs : Math.min(MAX_CHECK_MS, Math.max(MIN_CHECK_MS, probeMs / 4));

type Plan = {
  readonly budget: Budget;
  readonly block: Block;
  readonly isStray: boolean;
  readonly report: ReturnType<UsageReporter['reportOf']>;
};

function planBlock(current: Budget, { demand, forecast }: BlockRequest, line: Line): Plan {
  const { rate, reserve, maxWaitMs, clock, view, usage } = line;
  const { aheadMs, lateMs: usualLateMs, followers } = forecast();
  const nowMs = clock.now();
  const budget = withNewFacts(line.answered ? withAnswered(current, line.answered) : current, line);
  const { intervalMs, toleranceMs } = lineSpacing(rate, budget, nowMs);
  const earliestMs = nowMs + view.leadMs() + aheadMs;
  const {
    startMs,
    spareMs = 0,
    changed,
    isProbe = false,
    isStray = false,
  } = positionInLine(current, line, { earliestMs, intervalMs });
  const lateMs = usualLateMs + spareMs;
  const spanMs = reserve === 'single' || isProbe ? 0 : BLOCK_MS;
  const size = blockSize(demand(), { spanMs, intervalMs, followers });
  // If the clock here may be off, both ends of the block stay empty, so that no call leaves in the block of
  // another worker.
  const headMs = isProbe ? 0 : (clock.clockErrorMs?.() ?? 0);
  const firstMs = startMs + headMs;
  const report = usage.reportOf(size);
  const next = {
    ...budget,
    ...(isProbe ? {} : { tatMs: firstMs + blockLength(size, intervalMs, lateMs) + headMs }),
    ...maxWaitReport(budget, maxWaitMs, nowMs),
    ...changed,
    rate,
    tally: addUsage(budget.tally, report),
  };
  const block = {
    slots: Array.from({ length: size }, (_, at) => firstMs + at * intervalMs),
    toleranceMs,
    lateMs,
    throttleEpoch: next.incidents,
    state: firstMs - toleranceMs - nowMs <= CHECKED_MS ? 'checked' : 'held',
  } as const;
  return { budget: next, block, report, isStray };
}

/** At a block's first slot, the last read of the budget must be at most this old, in milliseconds. */
const CHECKED_MS = 250;

/** Adds to the budget what this worker has learned: that a call succeeded, or that the line was idle. */
function withNewFacts(budget: Budget, { acceptance, clock, rate }: Line): Budget {
  const { throttle, tatMs = 0 } = budget;
  const facts = lineFacts(rate, budget, clock.now());
  if (!isProbing(throttle)) return { ...budget, throttle: restartIfIdle(throttle, tatMs, facts) };
  return acceptance.acceptedSince(budget.incidents)
    ? { ...budget, throttle: reopened(throttle, facts) }
    : budget;
}

/**
 * Where the slots are taken: at the end of the line; or outside the line, if the platform refuses calls or has only
 * just accepted a call again.
 */
function positionInLine(
  budget: Budget,
  { rate, maxWaitMs, clock, acceptance }: Line,
  { earliestMs, intervalMs }: { readonly earliestMs: number; readonly intervalMs: number },
): {
  readonly startMs: number;
  /** How much later than usual the slots may be used, in milliseconds: they begin before the response is expected. */
  readonly spareMs?: number;
  readonly changed?: Partial<Budget>;
  /** Whether this is the slot of a probe while the platform refuses calls. It does not move the line. */
  readonly isProbe?: boolean;
  /** Whether the line was set back because a wrong clock had moved it ahead. */
  readonly isStray?: boolean;
} {
  const { tatMs = 0, throttle, incidents } = budget;
  if (isProbing(throttle)) {
    const { probedAtMs = 0, nextMs } = throttle;
    if (acceptance.acceptedSince(incidents))
      return { startMs: Math.max(earliestMs, probedAtMs + intervalMs) };
    const startMs = Math.round(Math.max(earliestMs, nextMs));
    const gapMs = Math.max(UNKNOWN_PROBE_MS, fullSpacing(rate, budget).intervalMs);
    return { startMs, isProbe: true, changed: { throttle: probed(throttle, startMs, gapMs) } };
  }
  const nowMs = clock.now();
  if (tatMs <= latestLineMs(budget, maxWaitMs, nowMs)) {
    // The slots begin up to 250 ms before the response is expected, so that they can be used immediately if it arrives
    // sooner.
    const startMs = Math.max(nowMs, tatMs, earliestMs - CHECKED_MS);
    return { startMs, spareMs: Math.max(0, earliestMs - startMs) };
  }
  // The slots begin as late as after a 429: by then every worker with reserved slots knows that these are void.
  const changed = { throttle: undefined, incidents: incidents + 1 };
  return { startMs: earliestMs + VOID_AFTER_MS, changed, isStray: true };
}

/**
 * How many slots to reserve: one for each waiting call, and for each call that is expected to follow. At least one
 * slot, and no slot beyond `spanMs`.
 */
function blockSize(
  { waiting }: Pick<Demand, 'waiting'>,
  options: { readonly spanMs: number; readonly intervalMs: number; readonly followers: number },
): number {
  const { spanMs, intervalMs, followers } = options;
  return Math.max(1, Math.min(Math.floor(spanMs / intervalMs), waiting + followers));
}

/**
 * The length of a block in milliseconds. If its calls may leave later than the spacing allows for, the end of the block
 * stays empty, so that they do not leave among the next worker's calls.
 */
const blockLength = (slots: number, intervalMs: number, lateMs: number): number =>
  slots * intervalMs + Math.max(0, lateMs - LATE_MS);

/** A 429 arrives quickly, so a call that is still running after this time, in milliseconds, was accepted. */
const ACCEPTED_AFTER_MS = 2_000;

/** Creates a tracker of whether the platform has accepted a call of this process since the last 429. */
export function createAcceptanceTracker(clock: Clock) {
  const underWay = new Map<Slot, { readonly throttleEpoch: number; readonly at: AdjustedTime }>();
  const sleepers = new Set<AbortController>();
  let acceptedEpoch = -1;

  const wake = () => {
    for (const sleeper of sleepers) sleeper.abort('woken');
  };

  return {
    /** Reports that a call leaves in this slot, after this many 429s. */
    left(slot: Slot, throttleEpoch: number): void {
      underWay.set(slot, { throttleEpoch, at: trackTime(clock) });
    },
    /** Reports that the slot's call has ended. */
    ended(slot: Slot, succeeded: boolean): void {
      const call = underWay.get(slot);
      underWay.delete(slot);
      if (call === undefined || !succeeded) return;
      acceptedEpoch = Math.max(acceptedEpoch, call.throttleEpoch);
      wake();
    },
    /** Whether a call that left after this many 429s was accepted. */
    acceptedSince(throttleEpoch: number): boolean {
      if (acceptedEpoch === throttleEpoch) return true;
      const beforeMs = clock.now() - ACCEPTED_AFTER_MS;
      return [...underWay.values()].some(
        (call) => call.throttleEpoch === throttleEpoch && call.at() <= beforeMs,
      );
    },
    /** Ends every sleep. */
    wake,
    /** Sleeps until the time is over, a call is accepted, or `wake` is called. */
    async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
      const sleeper = new AbortController();
      sleepers.add(sleeper);
      const woken = signal === undefined ? sleeper.signal : AbortSignal.any([sleeper.signal, signal]);
      try {
        await clock.sleep(ms, woken);
      } catch (error) {
        if (!sleeper.signal.aborted) throw error;
      } finally {
        sleepers.delete(sleeper);
      }
    },
  };
}

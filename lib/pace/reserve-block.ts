import {
  addTally,
  BLOCK_MS,
  type Budget,
  type BudgetView,
  dueAtMs,
  fullSpacing,
  LATE_MS,
  latestLineMs,
  lineFacts,
  lineSpacing,
  longerWait,
  type WorkerTally,
  withAnswered,
} from './budget.ts';
import { PaceWaitError, type Slot } from './pace.ts';
import { type Clock, type Demand, type Moment, momentOf, type SlotRequest } from './slots.ts';
import { isProbing, probed, reopened, rested } from './throttle-state.ts';

/** Slots of the line that one worker alone may use. */
export type Block = {
  /** Their times in epoch milliseconds, ascending. */
  readonly slots: readonly number[];
  readonly toleranceMs: number;
  readonly lateMs: number;
  /** The incidents of the budget when they were reserved: any more, and they are void. */
  readonly incidents: number;
  /** `held`: reserved long before it begins, and to be checked by then; `begun`: some of its slots were used. */
  readonly state: 'held' | 'checked' | 'begun';
};

export type Line = {
  readonly rate: number;
  readonly maxWaitMs: number;
  readonly greed: 'one' | 'block';
  readonly clock: Clock;
  readonly onSetBack?: (() => void) | undefined;
  readonly view: BudgetView;
  readonly tally: WorkerTally;
  readonly proof: Proof;
  /** What this worker has heard of operations, which the fleet hears of with a reservation. Default: nothing. */
  readonly answered?: ReadonlyMap<string, number> | undefined;
};

type BlockRequest = SlotRequest & {
  readonly outlook: () => Outlook;
};

type Outlook = {
  readonly aheadMs: number;
  readonly lateMs: number;
  readonly followers: number;
};

/** By then every worker that holds slots has looked: a block begins within 250 ms of a look, and lasts 250 ms. */
export const VOID_AFTER_MS = 1_000;

/** The least time after a probe that was neither refused nor accepted until another one leaves, in milliseconds. */
const UNKNOWN_MS = 1_000;

/** How old a view of the budget may be to refuse a call without another look, in milliseconds. */
export const REFUSED_MS = 1_000;

/** How soon to check a paused budget again: for a call that waits here, and for one that is refused and comes back. */
const PAUSED_POLL_MS = 5_000;
const PAUSED_DELAY_MS = 60_000;

/** How soon a worker that waits for another one's probe looks again: at a quarter of the time until then. */
const SOONEST_LOOK_MS = 250;
const LATEST_LOOK_MS = 5_000;

/** Waits while the budget is paused, or no probe is due. Throws `PaceWaitError`, or what the item throws. */
export async function reserveBlock(request: BlockRequest, line: Line): Promise<Block> {
  const { view, tally, onSetBack } = line;
  let budget = await view.known();
  for (;;) {
    request.signal?.throwIfAborted();
    const obstacle = obstacleIn(budget, request, line);
    if (obstacle === undefined) {
      let plan: Plan | undefined;
      const changed = await view.change('reserve slots of', (current) => {
        plan = obstacleIn(current, request, line) ? undefined : planned(current, request, line);
        return plan?.budget;
      });
      if (changed !== undefined && plan !== undefined) {
        tally.reported(plan.report);
        if (plan.isStray) onSetBack?.();
        return plan.block;
      }
      budget = await view.known();
    } else budget = await overcome(obstacle, budget, { request, line });
  }
}

type Obstacle =
  | { readonly kind: 'paused' }
  | { readonly kind: 'far'; readonly waitMs: number }
  | { readonly kind: 'probe'; readonly inMs: number };

function obstacleIn(budget: Budget, { calledAt, operation }: SlotRequest, line: Line): Obstacle | undefined {
  const { rate, maxWaitMs, clock, view, proof } = line;
  if (budget.pausedAtMs !== undefined) return { kind: 'paused' };
  const startMs = lineStartMs(budget, { maxWaitMs, nowMs: clock.now() });
  if (startMs === undefined) return undefined;
  const dueMs = dueAtMs(startMs, lineSpacing(rate, budget, clock.now()));
  if (dueMs - calledAt() > maxWaitMs) return { kind: 'far', waitMs: dueMs - calledAt() };
  if (!isProbing(budget.throttle) || proof.has(budget.incidents)) return undefined;
  const inMs = dueMs + yieldMs(budget, operation) - view.leadMs() - clock.now();
  return inMs > 0 ? { kind: 'probe', inMs } : undefined;
}

/** How long an operation whose call was refused last leaves the next probe to others: they may be accepted. */
const YIELD_MS = 300;

function yieldMs({ operations = {}, throttle }: Budget, operation = ''): number {
  const { refusedAtMs = Number.NEGATIVE_INFINITY } = operations[operation] ?? {};
  const isLast = isProbing(throttle) && refusedAtMs >= throttle.refusedAtMs - REFUSED_MS;
  return isLast ? YIELD_MS : 0;
}

type Given = { readonly request: SlotRequest; readonly line: Line };

/** Throws `PaceWaitError` if the call may not wait so long. */
async function overcome(obstacle: Obstacle, budget: Budget, { request, line }: Given): Promise<Budget> {
  const { maxWaitMs, clock, view, proof } = line;
  const { calledAt, signal } = request;
  if (obstacle.kind === 'probe') {
    await proof.sleep(lookAfterMs(obstacle.inMs), signal);
    return proof.has(budget.incidents) ? budget : view.look();
  }
  if (view.ageMs() > REFUSED_MS) return view.look();
  if (obstacle.kind === 'far')
    throw new PaceWaitError(obstacle.waitMs - (clock.now() - calledAt()), maxWaitMs);
  if (Number.isFinite(maxWaitMs)) throw new PaceWaitError(PAUSED_DELAY_MS, maxWaitMs, 'paused');
  await clock.sleep(PAUSED_POLL_MS, signal);
  return view.look();
}

const lookAfterMs = (probeMs: number): number =>
  probeMs <= SOONEST_LOOK_MS ? probeMs : Math.min(LATEST_LOOK_MS, Math.max(SOONEST_LOOK_MS, probeMs / 4));

/** Undefined if that is now. */
export function lineStartMs(budget: Budget, { maxWaitMs, nowMs }: Waiting): number | undefined {
  const { tatMs, throttle } = budget;
  if (isProbing(throttle)) return throttle.nextMs;
  if (tatMs === undefined) return undefined;
  return tatMs > latestLineMs(budget, maxWaitMs, nowMs) ? undefined : tatMs;
}

type Waiting = { readonly maxWaitMs: number; readonly nowMs: number };

type Plan = {
  readonly budget: Budget;
  readonly block: Block;
  readonly isStray: boolean;
  readonly report: ReturnType<WorkerTally['reportOf']>;
};

function planned(current: Budget, { demand, outlook }: BlockRequest, line: Line): Plan {
  const { rate, greed, maxWaitMs, clock, view, tally } = line;
  const { aheadMs, lateMs: usualLateMs, followers } = outlook();
  const nowMs = clock.now();
  const budget = withNews(line.answered ? withAnswered(current, line.answered) : current, line);
  const { intervalMs, toleranceMs } = lineSpacing(rate, budget, nowMs);
  const earliestMs = nowMs + view.leadMs() + aheadMs;
  const {
    startMs,
    spareMs = 0,
    changed,
    isProbe = false,
    isStray = false,
  } = placeOf(current, line, { earliestMs, intervalMs });
  const lateMs = usualLateMs + spareMs;
  const spanMs = greed === 'one' || isProbe ? 0 : BLOCK_MS;
  const size = blockSize(demand(), { spanMs, intervalMs, followers });
  // Where the clock here may be off, both ends stay empty, so that no call leaves in another worker's stretch.
  const headMs = isProbe ? 0 : (clock.doubtMs?.() ?? 0);
  const firstMs = startMs + headMs;
  const report = tally.reportOf(size);
  const next = {
    ...budget,
    ...(isProbe ? {} : { tatMs: firstMs + blockLength(size, intervalMs, lateMs) + headMs }),
    ...longerWait(budget, maxWaitMs, nowMs),
    ...changed,
    rate,
    tally: addTally(budget.tally, report),
  };
  const block = {
    slots: Array.from({ length: size }, (_, at) => firstMs + at * intervalMs),
    ...{ toleranceMs, lateMs, incidents: next.incidents },
    state: firstMs - toleranceMs - nowMs <= CHECKED_MS ? 'checked' : 'held',
  } as const;
  return { budget: next, block, report, isStray };
}

/** How old the last look at the budget may be when a block is begun, in milliseconds. */
const CHECKED_MS = 250;

/** The budget as it is once a success that this worker knows of is written, and a rest of the line. */
function withNews(budget: Budget, { proof, clock, rate }: Line): Budget {
  const { throttle, tatMs = 0 } = budget;
  const facts = lineFacts(rate, budget, clock.now());
  if (!isProbing(throttle)) return { ...budget, throttle: rested(throttle, tatMs, facts) };
  return proof.has(budget.incidents) ? { ...budget, throttle: reopened(throttle, facts) } : budget;
}

type Place = {
  readonly startMs: number;
  /** How much later the slots may be used, since they begin before a response can be here. */
  readonly spareMs?: number;
  readonly changed?: Partial<Budget>;
  /** One slot while the platform refuses: the line stays where it is. */
  readonly isProbe?: boolean;
  readonly isStray?: boolean;
};

/** Where the slots go: at the end of the line, or, while the platform refuses or has only just ceased to, beside it. */
function placeOf(
  budget: Budget,
  { rate, maxWaitMs, clock, proof }: Line,
  { earliestMs, intervalMs }: { readonly earliestMs: number; readonly intervalMs: number },
): Place {
  const { tatMs = 0, throttle, incidents } = budget;
  if (isProbing(throttle)) {
    const { probedAtMs = 0, nextMs } = throttle;
    if (proof.has(incidents)) return { startMs: Math.max(earliestMs, probedAtMs + intervalMs) };
    const startMs = Math.round(Math.max(earliestMs, nextMs));
    const gapMs = Math.max(UNKNOWN_MS, fullSpacing(rate, budget).intervalMs);
    return { startMs, isProbe: true, changed: { throttle: probed(throttle, startMs, gapMs) } };
  }
  const nowMs = clock.now();
  if (tatMs <= latestLineMs(budget, maxWaitMs, nowMs)) {
    // Its end is where it would be if the slots began with the expected response, so a sooner one need not wait.
    const startMs = Math.max(nowMs, tatMs, earliestMs - CHECKED_MS);
    return { startMs, spareMs: Math.max(0, earliestMs - startMs) };
  }
  // As after a 429: by then every worker that holds slots has learned that they are void.
  const changed = { throttle: undefined, incidents: incidents + 1 };
  return { startMs: earliestMs + VOID_AFTER_MS, changed, isStray: true };
}

type BlockOptions = {
  readonly spanMs: number;
  readonly intervalMs: number;
  readonly followers: number;
};

/** For the calls that wait, and as many as followed while the last block was in use; at least one, none beyond `spanMs`. */
export const blockSize = ({ waiting }: Demand, { spanMs, intervalMs, followers }: BlockOptions): number =>
  Math.max(1, Math.min(Math.floor(spanMs / intervalMs), waiting + followers));

/** Where calls may leave later than the spacing pays for, the end stays empty: no other worker's slot begins before. */
const blockLength = (slots: number, intervalMs: number, lateMs: number): number =>
  slots * intervalMs + Math.max(0, lateMs - LATE_MS);

/** A 429 comes at once: a call that has not ended by then was accepted and only takes long. Milliseconds. */
const ACCEPTED_AFTER_MS = 2_000;

type Proof = ReturnType<typeof createProof>;

/** What a process knows from its own calls about whether the platform accepts any since the last 429. */
export function createProof(clock: Clock) {
  const underWay = new Map<Slot, { readonly incidents: number; readonly at: Moment }>();
  const sleepers = new Set<AbortController>();
  let proved = -1;

  const wake = () => {
    for (const sleeper of sleepers) sleeper.abort('woken');
  };

  return {
    /** A call leaves in this slot, after `incidents` 429s. */
    left(slot: Slot, incidents: number): void {
      underWay.set(slot, { incidents, at: momentOf(clock) });
    },
    ended(slot: Slot, succeeded: boolean): void {
      const call = underWay.get(slot);
      underWay.delete(slot);
      if (call === undefined || !succeeded) return;
      proved = Math.max(proved, call.incidents);
      wake();
    },
    has(incidents: number): boolean {
      if (proved === incidents) return true;
      const beforeMs = clock.now() - ACCEPTED_AFTER_MS;
      return [...underWay.values()].some((call) => call.incidents === incidents && call.at() <= beforeMs);
    },
    wake,
    /** Sleeps, but no longer than until a call is accepted or `wake` is called. */
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

import { TableError } from '../table/index.ts';
import { LEAST_PAUSE_MS } from './after-refusal.ts';
import {
  BLOCK_MS,
  type Budget,
  type BudgetItem,
  blockLength,
  blockSize,
  fullSpacing,
  type LineKind,
  latestLineMs,
  lineSpacing,
  longestWait,
  type Reservation,
  UNLIMITED_MS,
} from './budget.ts';
import type { BudgetView } from './budget-view.ts';
import { dueAtMs } from './gcra.ts';
import { blockOf, type HeldBlock } from './held-block.ts';
import { isProbing, lastProbeMs, nextProbeMs, probeAtMs } from './lowered.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import type { Proof } from './proof.ts';
import type { Clock, SlotRequest } from './slots.ts';
import type { WorkerTally } from './tally.ts';

export type LineOptions = {
  readonly item: BudgetItem;
  /** Requests a second of the whole fleet. */
  readonly rate: number;
  readonly maxWaitMs: number;
  /** `one`: one slot at a time; `block`: as many as can be used within 250 ms. */
  readonly greed: 'one' | 'block';
  /** Epoch milliseconds: the workers' clocks should agree. */
  readonly clock: Clock;
  /** Sets the clock by the table's if that is necessary, before anything is reserved. Default: it never is. */
  readonly setClock?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  /** Called when this worker has set back a line that a wrong clock had moved. */
  readonly onSetBack?: (() => void) | undefined;
  /** From 0 up to 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
};

/** The line, what a worker knows about it, and what the worker did. */
export type Line = LineOptions & {
  readonly view: BudgetView;
  readonly tally: WorkerTally;
  readonly proof: Proof;
};

type BlockRequest = SlotRequest & {
  readonly outlook: () => Outlook;
};

type Outlook = {
  /** How much longer than recent responses to reserve ahead. */
  readonly aheadMs: number;
  /** How late the slots may be used. */
  readonly lateMs: number;
  /** How many calls will follow those that wait. */
  readonly followers: number;
};

/** How old a view of the budget may be to refuse a call without another look, in milliseconds. */
export const REFUSED_MS = 1_000;

/** How soon to check a paused budget again: for a call that waits here, and for one that is refused and comes back. */
const PAUSED_POLL_MS = 5_000;
const PAUSED_DELAY_MS = 60_000;

/** A refused write was overtaken by another worker's: rare twice in a row, but the rule where all wait for a probe. */
const MOST_ROUNDS = 10;

/** How soon a worker that waits for another one's probe looks again: at a quarter of the time until then. */
const SOONEST_LOOK_MS = 250;
const LATEST_LOOK_MS = 5_000;

/**
 * Reserves a block at the end of the line. `hold` is called as soon as the table responds: a caller that computes when
 * a call may leave must not find the line advanced and the block missing. Throws `PaceWaitError` if the reservation is
 * refused, what the item throws, and `TableError` if other workers were faster each time.
 */
export type ReserveBlock = (request: BlockRequest, hold: Hold) => Promise<void>;

type Hold = (block: HeldBlock) => void;

/** Makes the function by which one worker reserves blocks. */
export function createReserver(line: Line): ReserveBlock {
  const { view } = line;
  let lastKind: LineKind = 'idle';
  return async (request, hold) => {
    let budget = await view.known();
    for (let round = 0; round < MOST_ROUNDS; ) {
      request.signal?.throwIfAborted();
      budget = await granting(budget, request, line);
      const plan = planned(budget, request, { line, lastKind });
      const { kind } = plan.reservation;
      if (await write(plan, line, hold)) {
        lastKind = kind === 'idle' ? 'idle' : 'busy';
        return;
      }
      if (kind !== 'probe') round += 1;
      budget = await view.look();
    }
    throw new TableError(`reserve slots ${MOST_ROUNDS} times`, { kind: 'busy', code: 'overtaken each time' });
  };
}

/**
 * The budget once it is not paused, and once a probe is due while the platform refuses. Throws `PaceWaitError` if it has
 * no slot soon enough.
 */
async function granting(start: Budget, request: SlotRequest, line: Line): Promise<Budget> {
  const { calledAt, signal } = request;
  const { view, clock, maxWaitMs } = line;
  const isRefusal = start.pausedAtMs !== undefined || waitFor(start, calledAt(), line) > maxWaitMs;
  let budget = isRefusal && view.ageMs() > REFUSED_MS ? await view.look() : start;
  for (;;) {
    while (budget.pausedAtMs !== undefined) {
      if (maxWaitMs < Number.POSITIVE_INFINITY) throw new PaceWaitError(PAUSED_DELAY_MS, maxWaitMs, 'paused');
      await clock.sleep(PAUSED_POLL_MS, signal);
      budget = await view.look();
    }
    const waitMs = waitFor(budget, calledAt(), line);
    if (waitMs > maxWaitMs) throw new PaceWaitError(waitMs - (clock.now() - calledAt()), maxWaitMs);
    const probeMs = msUntilProbe(budget, line);
    if (probeMs <= 0) return budget;
    await line.proof.sleep(lookAfterMs(probeMs), signal);
    if (!line.proof.has(budget.incidents)) budget = await view.look();
  }
}

/** How long until a probe can be reserved; 0 if the line is open, or this worker knows that it will be. */
function msUntilProbe(budget: Budget, { view, clock, proof, rate }: Line): number {
  const { lowered, tatMs, incidents } = budget;
  if (!isProbing(lowered) || proof.has(incidents)) return 0;
  const dueMs = dueAtMs(probeAtMs(lowered, tatMs ?? 0), lineSpacing(rate, budget, clock.now()));
  return dueMs - view.leadMs() - clock.now();
}

/** The outcome of a probe is known long before the next one may leave. */
const lookAfterMs = (probeMs: number): number =>
  probeMs <= SOONEST_LOOK_MS ? probeMs : Math.min(LATEST_LOOK_MS, Math.max(SOONEST_LOOK_MS, probeMs / 4));

/** How long after it was called a call would get its slot. */
function waitFor(budget: Budget, calledAtMs: number, { rate, maxWaitMs, clock }: Line): number {
  const startMs = lineStartMs(budget, { maxWaitMs, nowMs: clock.now() });
  return startMs === undefined ? 0 : dueAtMs(startMs, lineSpacing(rate, budget, clock.now())) - calledAtMs;
}

/** When the next slot begins that can be reserved; undefined if that is now. */
export function lineStartMs(budget: Budget, { maxWaitMs, nowMs }: Waiting): number | undefined {
  const { tatMs, lowered } = budget;
  if (tatMs === undefined) return undefined;
  if (isProbing(lowered)) return probeAtMs(lowered, tatMs);
  return tatMs > latestLineMs(budget, maxWaitMs, nowMs) ? undefined : tatMs;
}

type Waiting = { readonly maxWaitMs: number; readonly nowMs: number };

/** What one write requests, and the properties of its slots. */
type Plan = {
  readonly reservation: Omit<Reservation, 'tally'>;
  readonly size: number;
  readonly intervalMs: number;
  readonly toleranceMs: number;
  readonly lateMs: number;
  /** How long the beginning of the stretch stays empty. */
  readonly headMs: number;
  readonly requestedAtMs: number;
};

function planned(
  budget: Budget,
  request: BlockRequest,
  { line, lastKind }: { readonly line: Line; readonly lastKind: LineKind },
): Plan {
  const { calledAt, demand, outlook } = request;
  const { rate, greed, maxWaitMs, clock, view } = line;
  const { aheadMs, lateMs, followers } = outlook();
  const requestedAtMs = clock.now();
  const { intervalMs, toleranceMs } = lineSpacing(rate, withProof(budget, line), requestedAtMs);
  const earliestMs = Math.ceil(requestedAtMs + view.leadMs() + aheadMs);
  const place = placeOf(budget, { line, lastKind, earliestMs, intervalMs });
  const spanMs = greed === 'one' || place.kind === 'probe' ? 0 : BLOCK_MS;
  const size = blockSize(demand(), { spanMs, intervalMs, followers });
  // Where the clock here may be off, both ends stay empty, so that no call leaves in another worker's stretch.
  const headMs = toMicroseconds(clock.doubtMs?.() ?? 0);
  const reservation = {
    latestMs: calledAt() + maxWaitMs + toleranceMs,
    blockMs: toMicroseconds(blockLength(size, intervalMs, lateMs) + 2 * headMs),
    incidents: budget.incidents,
    rate,
    ...longerWait(budget, maxWaitMs, requestedAtMs),
    ...place,
  };
  return { reservation, size, intervalMs, toleranceMs, lateMs, headMs, requestedAtMs };
}

/** The item holds the longest wait of all processes, for as long as one of them repeats it twice a minute. */
function longerWait(budget: Budget, maxWaitMs: number, nowMs: number): Pick<Reservation, 'longestWaitMs'> {
  const waitMs = Number.isFinite(maxWaitMs) ? maxWaitMs : UNLIMITED_MS;
  const longestMs = longestWait(budget, nowMs);
  const isOld = Math.abs(nowMs - (budget.longestWaitAtMs ?? 0)) > REPEATED_MS;
  return waitMs > longestMs || (waitMs === longestMs && isOld) ? { longestWaitMs: waitMs } : {};
}

const REPEATED_MS = 30_000;

/** The budget as it will be once this worker's success is in it. */
const withProof = (budget: Budget, { proof, clock }: Line): Budget =>
  isProbing(budget.lowered) && proof.has(budget.incidents)
    ? { ...budget, lowered: { ...budget.lowered, succeededMs: clock.now() } }
    : budget;

type Place = Pick<Reservation, 'kind' | 'fromMs' | 'probeMs' | 'nextProbeMs'> & {
  readonly latestMs?: number;
};

/** Where the slots go: at the end of the line, or, while the platform refuses or has only just ceased to, beside it. */
function placeOf(
  budget: Budget,
  {
    line,
    lastKind,
    earliestMs,
    intervalMs,
  }: { line: Line; lastKind: LineKind; earliestMs: number; intervalMs: number },
): Place {
  const { tatMs = 0, lowered, incidents } = budget;
  const full = fullSpacing(line.rate, budget);
  if (isProbing(lowered)) {
    const { probeMs } = lowered;
    const dueMs = probeAtMs(lowered, tatMs);
    if (line.proof.has(incidents))
      return {
        kind: 'restart',
        probeMs,
        fromMs: Math.max(earliestMs, toMicroseconds(lastProbeMs(dueMs, full) + intervalMs)),
      };
    const fromMs = Math.max(earliestMs, dueMs);
    return { kind: 'probe', probeMs, fromMs, nextProbeMs: nextProbeMs(fromMs, full) };
  }
  const latestMs = latestLineMs(budget, line.maxWaitMs, line.clock.now());
  // As after a 429: by then every worker that holds slots has learned that they are void.
  if (tatMs > latestMs) return { kind: 'stray', fromMs: earliestMs + LEAST_PAUSE_MS };
  return { kind: certainKind(budget, earliestMs, line.view) ?? lastKind, fromMs: earliestMs };
}

/** The item adds up decimals exactly, if they are not too many. */
const toMicroseconds = (ms: number): number => Math.ceil(ms * 1000) / 1000;

/** Writes a plan, and returns whether it was granted. The write also reports what has not been reported yet. */
async function write(plan: Plan, { item, view, tally, onSetBack }: Line, hold: Hold): Promise<boolean> {
  const { reservation, size } = plan;
  const report = tally.reportOf(size);
  const written = await view.write(() => item.reserve({ ...reservation, tally: report }));
  if (written.kind === 'refused') return false;
  tally.reported(report);
  if (reservation.kind === 'stray') onSetBack?.();
  hold(blockBy(plan, written.budget));
  return true;
}

/** Which of the two writes will succeed, where that is certain: the line's end is known to be late, or was seen just now. */
function certainKind({ tatMs }: Budget, fromMs: number, view: BudgetView): LineKind | undefined {
  if (tatMs !== undefined && tatMs >= fromMs) return 'busy';
  return view.ageMs() <= 2 * view.leadMs() ? 'idle' : undefined;
}

function blockBy({ reservation, headMs, ...plan }: Plan, { tatMs = 0, incidents }: Budget): HeldBlock {
  const { kind, fromMs, blockMs } = reservation;
  return blockOf({ ...plan, firstMs: kind === 'probe' ? fromMs : tatMs - blockMs + headMs, incidents });
}

import PQueue from 'p-queue';
import { isPassing } from '../base/aws/index.ts';
import { TableError } from '../table/index.ts';
import {
  afterRefusal,
  BLOCK_MS,
  createUsageReporter,
  effectiveRate,
  emptyBudget,
  LATE_MS,
  lineSpacing,
  lineStartMs,
} from './budget.ts';
import { type AdjustedTime, trackTime, watchSteps } from './clock.ts';
import { enqueue } from './fair-queue.ts';
import { type PaceCounts, PaceWaitError, type Slot } from './pace.ts';
import {
  createAcceptanceTracker,
  MAX_VIEW_AGE_MS,
  reserveBlock,
  type SlotRequest,
  VOID_AFTER_MS,
} from './reserve-block.ts';
import { isProbing, pauseAfter429 } from './throttle-state.ts';

type Line = Parameters<typeof reserveBlock>[1];

/*
 * A worker has one reserved block of the line at a time. The block is dropped after a 429 of one of the worker's
 * calls, and when the block's last slot is too old. While the table is unavailable nothing is reserved, so no call
 * leaves.
 */

type FleetSlotsOptions = Omit<Line, 'usage' | 'acceptance'> & {
  /** Finds out the table's time. Absent: all users of the table share one clock, which may still be changed. */
  readonly setClock?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  readonly onTableUnavailable?: ((cause: unknown) => void) | undefined;
  readonly onTableAvailable?: (() => void) | undefined;
};

/**
 * A reserved block. `wasSet`: whether the clock was changed since the block was planned, so its slots' times are
 * wrong.
 */
type Held = Awaited<ReturnType<typeof reserveBlock>> & { readonly wasSet: () => boolean };

type Worker = Line &
  FleetSlotsOptions & {
    /** Whether the clock was changed since the last call of this function. */
    readonly wasSet: () => boolean;
    /** The time before which no call leaves, since the clock was changed; undefined if it was not. */
    quietUntil: AdjustedTime | undefined;
    /** Runs one reservation at a time: a second one would replace the block of the first. */
    readonly reserving: PQueue;
    held: Held | undefined;
    /**
     * How late a slot may be used, in milliseconds. It grows if timers are always late; then a longer part of each
     * block's end stays empty.
     */
    lateMs: number;
    /** When to try the table again; undefined if it is available. */
    retryAt: AdjustedTime | undefined;
    /** A 429 that could not be reported yet, and the end of the pause that it requires. */
    unreportedThrottle: { readonly slot: Slot; readonly until: AdjustedTime } | undefined;
    /** The number of calls that had arrived at the first use of the last block, and at the latest use. */
    arrived: { readonly atFirst: number; readonly atLast: number };
  };

/**
 * Creates the slots of one worker. Waiting methods rethrow errors of the budget item, and throw
 * `PaceWaitError` if the slot is too far off.
 */
export function createFleetSlots(options: FleetSlotsOptions) {
  const { clock } = options;
  const worker: Worker = {
    ...options,
    usage: createUsageReporter(),
    acceptance: createAcceptanceTracker(clock),
    wasSet: watchSteps(clock),
    quietUntil: undefined,
    reserving: new PQueue({ concurrency: 1 }),
    held: undefined,
    lateMs: LATE_MS,
    retryAt: undefined,
    unreportedThrottle: undefined,
    arrived: { atFirst: 0, atLast: 0 },
  };
  return {
    /** Waits until a call's slot is only `leadMs` ahead. Does not take the slot. */
    waitUntilDue: (request: DueRequest) => waitUntilDue(worker, request),
    /** Reports that the preparation of a call failed, so that the next call does not wait for it. */
    wake: () => worker.acceptance.wake(),
    /** Gives back a slot in which no call left. */
    giveBack: (slot: Slot) => giveBack(worker, slot),
    /** Waits for a slot and takes it. */
    take: (request: SlotRequest) => take(worker, request),
    /** When a call with `ahead` calls before it may leave, in epoch milliseconds. */
    dueAtMs(ahead: number) {
      dropLate(worker);
      return dueAtMs(worker, ahead);
    },
    throttled: (slot: Slot, retryAfterMs: number | undefined) => throttled(worker, slot, retryAfterMs),
    /** Reports that the call of this slot has ended; `succeeded` if the platform accepted it. */
    ended: (slot: Slot, succeeded: boolean) => worker.acceptance.ended(slot, succeeded),
    counts: () => counts(worker),
  };
}

async function take(worker: Worker, request: SlotRequest): Promise<Slot> {
  // Slots that passed while no call waited are dropped first, so that they do not count as missed.
  dropLate(worker);
  let wasLate = false;
  for (;;) {
    request.signal?.throwIfAborted();
    if (dropLate(worker) > 0) {
      // A single late call costs only one slot, but a larger allowance costs a part of every block.
      if (wasLate) worker.lateMs = Math.min(BLOCK_MS, worker.lateMs * 2);
      wasLate = true;
    }
    const { held, clock } = worker;
    const slotMs = held?.slots[0];
    if (held === undefined || slotMs === undefined) await reserve(worker, request);
    else if (held.state === 'held') await check(worker, held, request.signal);
    else {
      const waitMs = slotMs - held.toleranceMs - clock.now();
      if (waitMs <= 0) return use(worker, held, request);
      await clock.sleep(waitMs, request.signal);
    }
  }
}

/** A call with work to do before it may leave, such as storing that it was sent. */
type DueRequest = SlotRequest & {
  /**
   * How many calls will take a slot before this one, and for how many milliseconds that is certain: later, one of them
   * may turn out to be late.
   */
  readonly ahead: () => { readonly calls: number; readonly forMs: number };
  /** How long the work takes, in milliseconds. */
  readonly leadMs: () => number;
};

/**
 * Waits until a slot is near that is not needed by the calls ahead. Reserves a block immediately, so that the place in
 * the line is not lost.
 */
async function waitUntilDue(worker: Worker, request: DueRequest): Promise<void> {
  const { clock, maxWaitMs, acceptance } = worker;
  const { calledAt, signal, leadMs } = request;
  for (;;) {
    signal?.throwIfAborted();
    dropLate(worker);
    const { calls, forMs } = request.ahead();
    // Only the first call reserves, since it reserves slots for the calls after it too.
    if (calls === 0) {
      const isFree = isLineFree(worker);
      const aheadMs = isFree ? Math.max(0, leadMs() - worker.view.leadMs()) : leadMs();
      const reserved = reserve(worker, request, aheadMs);
      // On a free line the slot comes immediately, so the call is prepared while the block is being reserved. If the
      // reservation fails, the call gets the error when it takes its slot.
      if (isFree) reserved.catch(() => undefined);
      else await reserved;
    }
    const dueMs = dueAtMs(worker, calls);
    if (dueMs - calledAt() > maxWaitMs) throw waitsTooLong(worker, dueMs);
    const isHeld = calls < (worker.held?.slots ?? []).length;
    const waitMs = dueMs - (isHeld ? checkMs(worker) : worker.view.leadMs()) - leadMs() - clock.now();
    if (waitMs <= 0) return;
    await acceptance.sleep(Math.min(waitMs, forMs, usedUpMs(worker, calls)), signal);
  }
}

/**
 * The error of a call whose slot comes too late. The wait in the error counts from now, since the call may have waited
 * already, or its process was suspended.
 */
export const waitsTooLong = ({ clock, maxWaitMs }: Pick<Line, 'clock' | 'maxWaitMs'>, dueMs: number) =>
  new PaceWaitError(Math.max(0, dueMs - clock.now()), maxWaitMs);

/**
 * Whether a slot that is reserved now most likely starts immediately: a recent view of the budget shows an empty
 * line.
 */
function isLineFree({ view, clock }: Worker): boolean {
  const { tatMs = 0, throttle, pausedAtMs } = view.last() ?? emptyBudget;
  return (
    view.ageMs() <= MAX_VIEW_AGE_MS &&
    tatMs <= clock.now() &&
    !isProbing(throttle) &&
    pausedAtMs === undefined
  );
}

function usedUpMs({ held, clock }: Worker, calls: number): number {
  const slots = held?.slots ?? [];
  const last = slots.length > calls ? undefined : slots.at(-1);
  return last === undefined ? Number.POSITIVE_INFINITY : Math.max(1, last - clock.now());
}

/** Reserves a block unless the worker has one. `leadMs`: how long after the response the first slot can be used. */
function reserve(worker: Worker, request: SlotRequest, leadMs = 0): Promise<void> {
  const { clock } = worker;
  const forecast = () => ({
    aheadMs: leadMs,
    lateMs: worker.lateMs,
    followers: worker.arrived.atLast - worker.arrived.atFirst,
  });
  const reserveOne = async () => {
    if (worker.held !== undefined) return;
    if (worker.setClock === undefined) await untilQuiet(worker, request.signal);
    else await worker.setClock(request.signal);
    await flushUnreported(worker);
    const wasSet = watchSteps(clock);
    worker.held = { ...(await reserveBlock({ ...request, forecast }, worker)), wasSet };
  };
  return enqueue(worker.reserving, () => whenTableAvailable(worker, request, reserveOne), request.signal);
}

/** After a shared clock was changed, waits until no slot that was reserved before the change can still be used. */
async function untilQuiet(worker: Worker, signal: AbortSignal | undefined): Promise<void> {
  const { clock } = worker;
  if (worker.wasSet()) worker.quietUntil = trackTime(clock, clock.now() + VOID_AFTER_MS);
  const leftMs = worker.quietUntil === undefined ? 0 : worker.quietUntil() - clock.now();
  if (leftMs > 0) await clock.sleep(leftMs, signal);
  worker.quietUntil = undefined;
}

const RETRY_MS = 1_000;

/**
 * Runs `act`, and repeats it every second while the table is unavailable. Throws `PaceWaitError` if the call may
 * not wait that long; rethrows any other error.
 */
async function whenTableAvailable(
  worker: Worker,
  { calledAt, signal }: SlotRequest,
  act: () => Promise<void>,
) {
  const { clock, maxWaitMs, onTableUnavailable, onTableAvailable } = worker;
  for (;;) {
    const leftMs = worker.retryAt === undefined ? 0 : worker.retryAt() - clock.now();
    if (leftMs > 0) {
      if (clock.now() + leftMs - calledAt() > maxWaitMs) throw new PaceWaitError(leftMs, maxWaitMs);
      await clock.sleep(leftMs, signal);
    }
    try {
      await act();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (worker.retryAt === undefined) onTableUnavailable?.(error);
      worker.retryAt = trackTime(clock, clock.now() + RETRY_MS);
      continue;
    }
    if (worker.retryAt !== undefined) onTableAvailable?.();
    worker.retryAt = undefined;
    return;
  }
}

/** Whether the table may respond later. A table that is missing, or that may not be used, is not tried again. */
const isUnavailable = (error: unknown): boolean => error instanceof TableError && isPassing(error);

const checkMs = ({ held, view }: Worker): number => (held?.state === 'held' ? view.leadMs() : 0);

/** Shortly before the block begins, drops it if a 429 or a pause came after its reservation, or if the table fails. */
async function check(worker: Worker, held: Held, signal: AbortSignal | undefined): Promise<void> {
  const { clock, view } = worker;
  const waitMs = (held.slots[0] ?? 0) - held.toleranceMs - checkMs(worker) - clock.now();
  if (waitMs > 0) await clock.sleep(waitMs, signal);
  const budget = await view.read().catch(() => undefined);
  // A 429 of this worker may have dropped the block in the meantime.
  if (worker.held === undefined) return;
  const isValid = budget?.incidents === held.throttleEpoch && budget.pausedAtMs === undefined;
  setHeld(worker, isValid ? { ...worker.held, state: 'checked' } : undefined);
}

/** The factor by which the lateness allowance shrinks with each used slot. */
const LATENESS_DECAY = 0.97;

function use(worker: Worker, held: Held, { calledAt, demand }: SlotRequest): Slot {
  const { arrived } = demand();
  const { throttleEpoch, slots, lateMs, state } = held;
  worker.held = slots.length === 1 ? undefined : { ...held, state: 'begun', slots: slots.slice(1) };
  worker.lateMs = Math.max(LATE_MS, worker.lateMs * LATENESS_DECAY);
  worker.arrived = { atFirst: state === 'begun' ? worker.arrived.atFirst : arrived, atLast: arrived };
  const atMs = worker.clock.now();
  const waitedMs = atMs - calledAt();
  worker.usage.add({ used: 1, waitedMs: Math.round(waitedMs) });
  const slot = { atMs, waitedMs, throttleEpoch, untilMs: (slots[0] ?? 0) + lateMs };
  worker.acceptance.left(slot, throttleEpoch);
  return slot;
}

/** Counts a slot as wasted, since its call did not leave in time. */
function giveBack({ usage, acceptance }: Worker, slot: Slot): void {
  acceptance.ended(slot, false);
  usage.add({ used: -1, wasted: 1 });
}

/**
 * Drops slots that are too old to be used; if their times are wrong, all slots. Returns the number of dropped
 * slots.
 */
function dropLate(worker: Worker): number {
  const { held, clock } = worker;
  if (held === undefined) return 0;
  const slots = held.wasSet() ? [] : held.slots.filter((slotMs) => slotMs + held.lateMs >= clock.now());
  return setHeld(worker, slots.length === 0 ? undefined : { ...held, slots });
}

function setHeld(worker: Worker, left: Held | undefined): number {
  const wasted = (worker.held?.slots ?? []).length - (left?.slots ?? []).length;
  if (wasted > 0) worker.usage.add({ wasted });
  worker.held = left;
  return wasted;
}

/**
 * When a call with `ahead` calls before it may leave, in epoch milliseconds: in a slot that is already reserved, or at
 * the end of the line.
 */
function dueAtMs({ held, view, rate, maxWaitMs, clock }: Worker, ahead: number): number {
  const slots = held?.slots ?? [];
  const budget = view.last() ?? emptyBudget;
  const { intervalMs, toleranceMs } = lineSpacing(rate, budget, clock.now());
  const atMs = slots[ahead];
  if (atMs !== undefined) return atMs - toleranceMs;
  // An old view does not count: there may have been a 429 since then.
  const seenMs =
    view.ageMs() > MAX_VIEW_AGE_MS ? undefined : lineStartMs(budget, { maxWaitMs, nowMs: clock.now() });
  const endMs = ahead === 0 && seenMs !== undefined ? seenMs : Math.max(seenMs ?? 0, clock.now());
  return endMs - toleranceMs + (ahead - slots.length) * intervalMs;
}

async function throttled(worker: Worker, slot: Slot, retryAfterMs: number | undefined): Promise<void> {
  const { clock, acceptance, usage } = worker;
  usage.add({ throttled: 1 });
  acceptance.ended(slot, false);
  const until = trackTime(clock, clock.now() + pauseAfter429(retryAfterMs));
  try {
    await report(worker, slot, retryAfterMs);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    worker.unreportedThrottle = { slot, until };
    setHeld(worker, undefined);
  }
}

async function flushUnreported(worker: Worker): Promise<void> {
  const { unreportedThrottle, clock } = worker;
  const leftMs = unreportedThrottle === undefined ? 0 : unreportedThrottle.until() - clock.now();
  if (unreportedThrottle !== undefined && leftMs > 0) await report(worker, unreportedThrottle.slot, leftMs);
  worker.unreportedThrottle = undefined;
}

/** Reports a 429, unless one was already reported since the call's slot was reserved. */
async function report(worker: Worker, slot: Slot, retryAfterMs: number | undefined): Promise<void> {
  const { view, rate, clock, acceptance } = worker;
  const known = await view.known();
  const { throttleEpoch = known.incidents } = slot;
  if (throttleEpoch < known.incidents) return;
  await view.change('lower the rate of', (budget) => {
    if (throttleEpoch < budget.incidents) return undefined;
    const hasSucceeded = acceptance.acceptedSince(budget.incidents);
    return afterRefusal(budget, { rate, nowMs: clock.now(), retryAfterMs, hasSucceeded });
  });
  setHeld(worker, undefined);
  acceptance.wake();
}

const counts = ({ usage, rate, view, clock }: Worker): PaceCounts => ({
  ...usage.counted(),
  effectiveRate: effectiveRate(rate, view.last() ?? emptyBudget, clock.now()),
});

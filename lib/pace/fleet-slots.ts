import PQueue from 'p-queue';
import { isPassing } from '../base/aws/index.ts';
import { TableError } from '../table/index.ts';
import {
  afterRefusal,
  BLOCK_MS,
  createWorkerTally,
  effectiveRate,
  emptyBudget,
  LATE_MS,
  lineSpacing,
} from './budget.ts';
import { enqueue } from './enqueue.ts';
import { type PaceCounts, PaceWaitError, type Slot } from './pace.ts';
import {
  type Block,
  createProof,
  type Line,
  lineStartMs,
  REFUSED_MS,
  reserveBlock,
  VOID_AFTER_MS,
} from './reserve-block.ts';
import { type ApproachRequest, type Moment, momentOf, type SlotRequest, watchSteps } from './slots.ts';
import { isProbing, pauseAfter429 } from './throttle-state.ts';

/*
 * A worker holds one block of the line at a time; a 429 of its call makes it void, and so does time once its last slot
 * is too old. While the table is away nothing is reserved, so nothing leaves.
 */

type FleetSlotsOptions = Omit<Line, 'tally' | 'proof'> & {
  /** Finds the table's time. Absent: its users share a clock, which may be set all the same. */
  readonly setClock?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  readonly onTableAway?: ((cause: unknown) => void) | undefined;
  readonly onTableBack?: (() => void) | undefined;
};

/** `wasSet`: whether the clock was since the block was planned; then nobody knows when its slots are. */
type Held = Block & { readonly wasSet: () => boolean };

type Worker = Line &
  FleetSlotsOptions & {
    /** Whether the clock was set since this was last asked; and until when nothing leaves after that. */
    readonly wasSet: () => boolean;
    quietUntil: Moment | undefined;
    /** One reservation at a time: a second would replace the block of the first. */
    readonly reserving: PQueue;
    held: Held | undefined;
    /** Grows where timers are always late; the end of each block, left empty, pays for what is more than the least. */
    lateMs: number;
    /** The table does not respond: when to try it again. */
    retryAt: Moment | undefined;
    /** A 429 that could not be reported, and until when it asks all to stop. */
    owed: { readonly slot: Slot; readonly until: Moment } | undefined;
    /** Calls that had arrived when the last block was begun, and when the latest of its slots was used. */
    arrived: { readonly atFirst: number; readonly atLast: number };
  };

export type SlotSource = ReturnType<typeof createFleetSlots>;

/** Of one worker. Methods that wait throw what the item throws, and `PaceWaitError` if the slot is too far off. */
export function createFleetSlots(options: FleetSlotsOptions) {
  const { clock } = options;
  const worker: Worker = {
    ...options,
    tally: createWorkerTally(),
    proof: createProof(clock),
    wasSet: watchSteps(clock),
    quietUntil: undefined,
    reserving: new PQueue({ concurrency: 1 }),
    held: undefined,
    lateMs: LATE_MS,
    retryAt: undefined,
    owed: undefined,
    arrived: { atFirst: 0, atLast: 0 },
  };
  return {
    /** Waits until a call's slot is only `leadMs` away, without taking it. */
    approach: (request: ApproachRequest) => approach(worker, request),
    /** A call that approached will not take a slot: the next need not wait for it. */
    wake: () => worker.proof.wake(),
    giveBack: (slot: Slot) => giveBack(worker, slot),
    take: (request: SlotRequest) => take(worker, request),
    dueAtMs(ahead: number) {
      dropLate(worker);
      return dueAtMs(worker, ahead);
    },
    throttled: (slot: Slot, retryAfterMs: number | undefined) => throttled(worker, slot, retryAfterMs),
    /** The call of this slot has ended; `succeeded` if the platform accepted it. */
    ended: (slot: Slot, succeeded: boolean) => worker.proof.ended(slot, succeeded),
    counts: () => counts(worker),
  };
}

async function take(worker: Worker, request: SlotRequest): Promise<Slot> {
  // Slots that passed while no call waited are not misses.
  dropLate(worker);
  let wasLate = false;
  for (;;) {
    request.signal?.throwIfAborted();
    if (dropLate(worker) > 0) {
      // To be late once costs a slot, and to allow more lateness a part of every block.
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

/** Waits until the slot that `ahead` calls leave is near. A block is reserved at once, to have a place in the line. */
async function approach(worker: Worker, request: ApproachRequest): Promise<void> {
  const { clock, maxWaitMs, proof } = worker;
  const { calledAt, signal, leadMs } = request;
  for (;;) {
    signal?.throwIfAborted();
    dropLate(worker);
    const { calls, forMs } = request.ahead();
    // The calls ahead reserve for this one too, and sooner: they are ready.
    if (calls === 0) {
      const isFree = isLineFree(worker);
      const aheadMs = isFree ? Math.max(0, leadMs() - worker.view.leadMs()) : leadMs();
      const reserved = reserve(worker, request, aheadMs);
      // Where a slot comes at once, the call prepares meanwhile, and hears of a failure when it takes its slot.
      if (isFree) reserved.catch(() => undefined);
      else await reserved;
    }
    const dueMs = dueAtMs(worker, calls);
    if (dueMs - calledAt() > maxWaitMs) throw waitsTooLong(worker, dueMs);
    const isHeld = calls < (worker.held?.slots ?? []).length;
    const waitMs = dueMs - (isHeld ? checkMs(worker) : worker.view.leadMs()) - leadMs() - clock.now();
    if (waitMs <= 0) return;
    await proof.sleep(Math.min(waitMs, forMs, usedUpMs(worker, calls)), signal);
  }
}

/** From now: the call may have waited already, or its process stood still. */
export const waitsTooLong = ({ clock, maxWaitMs }: Pick<Line, 'clock' | 'maxWaitMs'>, dueMs: number) =>
  new PaceWaitError(Math.max(0, dueMs - clock.now()), maxWaitMs);

/** Whether a slot that is reserved now most likely comes at once: by a view that is not old, nobody waits. */
function isLineFree({ view, clock }: Worker): boolean {
  const { tatMs = 0, throttle, pausedAtMs } = view.last() ?? emptyBudget;
  return (
    view.ageMs() <= REFUSED_MS && tatMs <= clock.now() && !isProbing(throttle) && pausedAtMs === undefined
  );
}

function usedUpMs({ held, clock }: Worker, calls: number): number {
  const slots = held?.slots ?? [];
  const last = slots.length > calls ? undefined : slots.at(-1);
  return last === undefined ? Number.POSITIVE_INFINITY : Math.max(1, last - clock.now());
}

/** Reserves a block unless one is held. `leadMs`: how long after the response its first slot can be used. */
function reserve(worker: Worker, request: SlotRequest, leadMs = 0): Promise<void> {
  const { clock } = worker;
  const outlook = () => ({
    aheadMs: leadMs,
    lateMs: worker.lateMs,
    followers: worker.arrived.atLast - worker.arrived.atFirst,
  });
  const reserveOne = async () => {
    if (worker.held !== undefined) return;
    if (worker.setClock === undefined) await untilQuiet(worker, request.signal);
    else await worker.setClock(request.signal);
    await reportOwed(worker);
    const wasSet = watchSteps(clock);
    worker.held = { ...(await reserveBlock({ ...request, outlook }, worker)), wasSet };
  };
  return enqueue(worker.reserving, () => onceBack(worker, request, reserveOne), request.signal);
}

/** Where users share a clock that was set, the line says by another one when calls left: for a second nobody knows. */
async function untilQuiet(worker: Worker, signal: AbortSignal | undefined): Promise<void> {
  const { clock } = worker;
  if (worker.wasSet()) worker.quietUntil = momentOf(clock, clock.now() + VOID_AFTER_MS);
  const leftMs = worker.quietUntil === undefined ? 0 : worker.quietUntil() - clock.now();
  if (leftMs > 0) await clock.sleep(leftMs, signal);
  worker.quietUntil = undefined;
}

const RETRY_MS = 1_000;

/** Does this once the table responds. Throws `PaceWaitError` if the call may not wait as long, and any other error. */
async function onceBack(worker: Worker, { calledAt, signal }: SlotRequest, act: () => Promise<void>) {
  const { clock, maxWaitMs, onTableAway, onTableBack } = worker;
  for (;;) {
    const leftMs = worker.retryAt === undefined ? 0 : worker.retryAt() - clock.now();
    if (leftMs > 0) {
      if (clock.now() + leftMs - calledAt() > maxWaitMs) throw new PaceWaitError(leftMs, maxWaitMs);
      await clock.sleep(leftMs, signal);
    }
    try {
      await act();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (worker.retryAt === undefined) onTableAway?.(error);
      worker.retryAt = momentOf(clock, clock.now() + RETRY_MS);
      continue;
    }
    if (worker.retryAt !== undefined) onTableBack?.();
    worker.retryAt = undefined;
    return;
  }
}

/** Whether the table may respond later. Nothing waits for one that is missing, or that refuses what it is asked for. */
const isAway = (error: unknown): boolean => error instanceof TableError && isPassing(error);

const checkMs = ({ held, view }: Worker): number => (held?.state === 'held' ? view.leadMs() : 0);

/** A 429 or a pause since it was reserved makes it void, and so does a table that cannot say that there was none. */
async function check(worker: Worker, held: Held, signal: AbortSignal | undefined): Promise<void> {
  const { clock, view } = worker;
  const waitMs = (held.slots[0] ?? 0) - held.toleranceMs - checkMs(worker) - clock.now();
  if (waitMs > 0) await clock.sleep(waitMs, signal);
  const budget = await view.look().catch(() => undefined);
  // A 429 of this worker may have dropped it in the meantime.
  if (worker.held === undefined) return;
  const isValid = budget?.incidents === held.incidents && budget.pausedAtMs === undefined;
  setHeld(worker, isValid ? { ...worker.held, state: 'checked' } : undefined);
}

/** What a slot that was used leaves of the lateness that is allowed. */
const LESS_LATE = 0.97;

function use(worker: Worker, held: Held, { calledAt, demand }: SlotRequest): Slot {
  const { arrived } = demand();
  const { incidents, slots, lateMs, state } = held;
  worker.held = slots.length === 1 ? undefined : { ...held, state: 'begun', slots: slots.slice(1) };
  worker.lateMs = Math.max(LATE_MS, worker.lateMs * LESS_LATE);
  worker.arrived = { atFirst: state === 'begun' ? worker.arrived.atFirst : arrived, atLast: arrived };
  const atMs = worker.clock.now();
  const waitedMs = atMs - calledAt();
  worker.tally.add({ used: 1, waitedMs: Math.round(waitedMs) });
  const slot = { atMs, waitedMs, incidents, untilMs: (slots[0] ?? 0) + lateMs };
  worker.proof.left(slot, incidents);
  return slot;
}

/** Its call did not leave in time, so it counts as wasted. */
function giveBack({ tally, proof }: Worker, slot: Slot): void {
  proof.ended(slot, false);
  tally.add({ used: -1, wasted: 1 });
}

/** Drops slots that are too old to be used, or all if nobody knows how old they are; returns how many there were. */
function dropLate(worker: Worker): number {
  const { held, clock } = worker;
  if (held === undefined) return 0;
  const slots = held.wasSet() ? [] : held.slots.filter((slotMs) => slotMs + held.lateMs >= clock.now());
  return setHeld(worker, slots.length === 0 ? undefined : { ...held, slots });
}

function setHeld(worker: Worker, left: Held | undefined): number {
  const wasted = (worker.held?.slots ?? []).length - (left?.slots ?? []).length;
  if (wasted > 0) worker.tally.add({ wasted });
  worker.held = left;
  return wasted;
}

/** When a call with `ahead` others before it may leave: in a slot that is held, or at the end of the line. */
function dueAtMs({ held, view, rate, maxWaitMs, clock }: Worker, ahead: number): number {
  const slots = held?.slots ?? [];
  const budget = view.last() ?? emptyBudget;
  const { intervalMs, toleranceMs } = lineSpacing(rate, budget, clock.now());
  const atMs = slots[ahead];
  if (atMs !== undefined) return atMs - toleranceMs;
  // A 429 may have made an old view void.
  const seenMs =
    view.ageMs() > REFUSED_MS ? undefined : lineStartMs(budget, { maxWaitMs, nowMs: clock.now() });
  const endMs = ahead === 0 && seenMs !== undefined ? seenMs : Math.max(seenMs ?? 0, clock.now());
  return endMs - toleranceMs + (ahead - slots.length) * intervalMs;
}

async function throttled(worker: Worker, slot: Slot, retryAfterMs: number | undefined): Promise<void> {
  const { clock, proof, tally } = worker;
  tally.add({ throttled: 1 });
  proof.ended(slot, false);
  const until = momentOf(clock, clock.now() + pauseAfter429(retryAfterMs));
  try {
    await report(worker, slot, retryAfterMs);
  } catch (error) {
    if (!isAway(error)) throw error;
    worker.owed = { slot, until };
    setHeld(worker, undefined);
  }
}

async function reportOwed(worker: Worker): Promise<void> {
  const { owed, clock } = worker;
  const leftMs = owed === undefined ? 0 : owed.until() - clock.now();
  if (owed !== undefined && leftMs > 0) await report(worker, owed.slot, leftMs);
  worker.owed = undefined;
}

/** Reports a 429, unless another worker's call met the same one, and its report arrived first. */
async function report(worker: Worker, slot: Slot, retryAfterMs: number | undefined): Promise<void> {
  const { view, rate, clock, proof } = worker;
  const known = await view.known();
  const { incidents = known.incidents } = slot;
  if (incidents < known.incidents) return;
  await view.change('lower the rate of', (budget) => {
    if (incidents < budget.incidents) return undefined;
    const hasSucceeded = proof.has(budget.incidents);
    return afterRefusal(budget, { rate, nowMs: clock.now(), retryAfterMs, hasSucceeded });
  });
  setHeld(worker, undefined);
  proof.wake();
}

const counts = ({ tally, rate, view, clock }: Worker): PaceCounts => ({
  ...tally.counted(),
  effectiveRate: effectiveRate(rate, view.last() ?? emptyBudget, clock.now()),
});

import PQueue from 'p-queue';
import { TableError } from '../table/index.ts';
import { incidentOf, pauseAfter429 } from './after-refusal.ts';
import { BLOCK_MS, cappedRate, emptyBudget, LATE_MS, lineSpacing } from './budget.ts';
import { createBudgetView } from './budget-view.ts';
import { effectiveRate } from './effective-rate.ts';
import { enqueue } from './enqueue.ts';
import {
  type DistantBlock,
  dueMsOf,
  freshened,
  type HeldBlock,
  isStillValid,
  NO_BLOCK,
  slotsOf,
  type UsableBlock,
  useFirst,
  withoutLate,
} from './held-block.ts';
import { isProbing } from './lowered.ts';
import type { PaceCounts, Slot } from './pace.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import { createProof } from './proof.ts';
import {
  createReserver,
  type Line,
  type LineOptions,
  lineStartMs,
  REFUSED_MS,
  type ReserveBlock,
} from './reserve-block.ts';
import { type ApproachRequest, type Moment, momentOf, type SlotRequest, watchSteps } from './slots.ts';
import { createWorkerTally } from './tally.ts';

/*
 * A worker holds one block of the line at a time. Its states (`HeldBlock`) and what leads from one to the next:
 *
 *   state   the worker holds                             next
 *   none    nothing                                      reserve: held, or fresh if the block begins within 250 ms
 *   held    a block that begins later than that          look shortly before it begins: fresh if still valid, else none
 *   fresh   a block that was valid when last checked     use its first slot: begun, or none if it was the only one
 *   begun   the rest of a block                          use the next slot: begun, or none if it was the last
 *
 * From any state, a 429 of this worker's call leads to none, and so does time once the last slot is too old. While the
 * table is away nothing is reserved, so nothing leaves: calls wait, and try it again.
 */

export type FleetSlotsOptions = LineOptions & {
  /** Called once for each outage of the table. */
  readonly onTableAway?: ((cause: unknown) => void) | undefined;
  /** Called when the outage is over. */
  readonly onTableBack?: (() => void) | undefined;
};

type Worker = Line &
  FleetSlotsOptions & {
    readonly reserveBlock: ReserveBlock;
    /** One reservation at a time: a second would replace the block of the first. */
    readonly reserving: PQueue;
    held: HeldBlock;
    /** Whether the clock was set since the block was last looked at. */
    readonly wasSet: () => boolean;
    /**
     * How long after its time a slot may be used: a process whose timers are always late would miss every slot. The end
     * of each block, which is left empty, pays for what is more than the least.
     */
    lateMs: number;
    isTableAway: boolean;
    /** A 429 that could not be reported, and until when it asks all to stop. */
    owed: { readonly slot: Slot; readonly until: Moment } | undefined;
    /** Calls that had arrived when the last block was begun, and when the latest of its slots was used. */
    arrived: { readonly atFirst: number; readonly atLast: number };
  };

export type SlotSource = ReturnType<typeof createFleetSlots>;

/**
 * The slots of one worker from the fleet's budget. Only one call takes a slot at a time. Methods that wait throw what
 * the item throws, and `PaceWaitError` if the slot is too far off.
 */
export function createFleetSlots(options: FleetSlotsOptions) {
  const view = createBudgetView(options.item, options.clock);
  const line = { ...options, view, tally: createWorkerTally(), proof: createProof(options.clock) };
  const worker: Worker = {
    ...line,
    reserveBlock: createReserver(line),
    reserving: new PQueue({ concurrency: 1 }),
    held: NO_BLOCK,
    wasSet: watchSteps(line.clock),
    lateMs: LATE_MS,
    isTableAway: false,
    owed: undefined,
    arrived: { atFirst: 0, atLast: 0 },
  };
  return {
    /** Waits until a call's slot is only `leadMs` away, without taking it. */
    approach: (request: ApproachRequest) => approach(worker, request),
    /** Takes back a slot that was too old when its call was about to leave. */
    giveBack: (slot: Slot) => giveBack(worker, slot),
    /** Waits for the next slot. */
    take: (request: SlotRequest) => take(worker, request),
    /** The earliest time at which a call with `ahead` others before it may leave. */
    dueAtMs: (ahead: number) => dueAtMs(worker, ahead),
    throttled: (slot: Slot, retryAfterMs: number | undefined) => throttled(worker, slot, retryAfterMs),
    /** The call of this slot has ended; `succeeded` if the platform accepted it. */
    ended: (slot: Slot, succeeded: boolean) => line.proof.ended(slot, succeeded),
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
    switch (held.kind) {
      case 'none':
        await reserve(worker, request);
        break;
      case 'held':
        await freshen(worker, held, request.signal);
        break;
      case 'fresh':
      case 'begun': {
        const waitMs = dueMsOf(held) - clock.now();
        if (waitMs <= 0) return use(worker, held, request);
        await clock.sleep(waitMs, request.signal);
        break;
      }
      default:
        held satisfies never;
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
    if (calls === 0) await reserve(worker, request, leadMs());
    const dueMs = dueAtMs(worker, calls);
    if (dueMs - calledAt() > maxWaitMs) throw new PaceWaitError(dueMs - calledAt(), maxWaitMs);
    const isHeld = calls < slotsOf(worker.held).length;
    const waitMs = dueMs - (isHeld ? checkMs(worker) : worker.view.leadMs()) - leadMs() - clock.now();
    if (waitMs <= 0) return;
    await proof.sleep(Math.min(waitMs, forMs, usedUpMs(worker, calls)), signal);
  }
}

/** How long until the calls ahead have used up the block, and the next one must be reserved. */
function usedUpMs({ held, clock }: Worker, calls: number): number {
  const slots = slotsOf(held);
  const last = slots.length > calls ? undefined : slots.at(-1);
  return last === undefined ? Number.POSITIVE_INFINITY : Math.max(1, last - clock.now());
}

/** Reserves a block unless one is held. `leadMs`: how long after the response its first slot can be used. */
function reserve(worker: Worker, request: SlotRequest, leadMs = 0): Promise<void> {
  const { lateMs, arrived } = worker;
  const outlook = () => ({
    aheadMs: leadMs,
    lateMs,
    followers: arrived.atLast - arrived.atFirst,
  });
  const reserveOne = async () => {
    if (worker.held.kind !== 'none') return;
    await worker.setClock?.(request.signal);
    worker.wasSet();
    await reportOwed(worker);
    await worker.reserveBlock({ ...request, outlook }, (block) => {
      worker.held = block;
    });
  };
  return enqueue(worker.reserving, () => onceBack(worker, request, reserveOne), request.signal);
}

/** How often a table that is away is tried, in milliseconds. */
const RETRY_MS = 1_000;

/** Does this once the table responds. Throws `PaceWaitError` if the call may not wait as long, and any other error. */
async function onceBack(worker: Worker, { calledAt, signal }: SlotRequest, act: () => Promise<void>) {
  const { clock, maxWaitMs, onTableAway, onTableBack } = worker;
  for (;;) {
    const mayWait = clock.now() + RETRY_MS - calledAt() <= maxWaitMs;
    try {
      if (!worker.isTableAway || mayWait) await act();
      else throw new PaceWaitError(maxWaitMs + RETRY_MS, maxWaitMs);
    } catch (error) {
      if (!isAway(error)) throw error;
      if (!worker.isTableAway) onTableAway?.(error);
      worker.isTableAway = true;
      if (mayWait) await clock.sleep(RETRY_MS, signal);
      continue;
    }
    if (worker.isTableAway) onTableBack?.();
    worker.isTableAway = false;
    return;
  }
}

/** Whether the table may respond later. Nobody waits for one that is missing, or that this process may not use. */
const isAway = (error: unknown): boolean =>
  error instanceof TableError && ['busy', 'unreachable', 'other'].includes(error.failure.kind);

/** How long before the first slot of the block it must be checked, if it must. */
const checkMs = (worker: Worker): number => (worker.held.kind === 'held' ? worker.view.leadMs() : 0);

/** Checks shortly before a block begins whether it is still valid. */
async function freshen(worker: Worker, held: DistantBlock, signal: AbortSignal | undefined): Promise<void> {
  const { clock, view } = worker;
  const waitMs = dueMsOf(held) - checkMs(worker) - clock.now();
  if (waitMs > 0) await clock.sleep(waitMs, signal);
  const budget = await view.look().catch(() => undefined);
  // Not `held` itself: a 429 of this worker may have dropped it in the meantime.
  setHeld(worker, isStillValid(held, budget) ? freshened(worker.held) : NO_BLOCK);
}

/** What a slot that was used leaves of the lateness that is allowed. */
const LESS_LATE = 0.97;

function use(worker: Worker, held: UsableBlock, { calledAt, demand }: SlotRequest): Slot {
  const { arrived } = demand();
  worker.held = useFirst(held);
  worker.lateMs = Math.max(LATE_MS, worker.lateMs * LESS_LATE);
  worker.arrived = { atFirst: held.kind === 'fresh' ? arrived : worker.arrived.atFirst, atLast: arrived };
  const atMs = worker.clock.now();
  const waitedMs = atMs - calledAt();
  worker.tally.add({ used: 1, waitedMs: Math.round(waitedMs) });
  const slot = { atMs, waitedMs, incidents: held.incidents, untilMs: held.slots[0] + held.lateMs };
  worker.proof.left(slot, held.incidents);
  return slot;
}

/** Counts a slot as wasted after all: its call did not leave in time. */
function giveBack({ tally, proof }: Worker, slot: Slot): void {
  proof.ended(slot, false);
  tally.add({ used: -1, wasted: 1 });
}

/** Drops slots that are too old to be used, or all if nobody knows how old they are; returns how many there were. */
function dropLate(worker: Worker): number {
  const { held, clock, wasSet } = worker;
  return setHeld(worker, wasSet() ? NO_BLOCK : withoutLate(held, clock.now()));
}

/** Sets what is left of the block, and returns how many slots were dropped: they count as wasted. */
function setHeld(worker: Worker, left: HeldBlock): number {
  const wasted = slotsOf(worker.held).length - slotsOf(left).length;
  if (wasted > 0) worker.tally.add({ wasted });
  worker.held = left;
  return wasted;
}

/** When a call with `ahead` others before it may leave: in a slot that is held, or at the end of the line. */
function dueAtMs({ held, view, rate, maxWaitMs, clock }: Worker, ahead: number): number {
  const slots = slotsOf(held);
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
    setHeld(worker, NO_BLOCK);
  }
}

/** Reports the 429 that could not be reported at the time. */
async function reportOwed(worker: Worker): Promise<void> {
  const { owed, clock } = worker;
  const leftMs = owed === undefined ? 0 : owed.until() - clock.now();
  if (owed !== undefined && leftMs > 0) await report(worker, owed.slot, leftMs);
  worker.owed = undefined;
}

async function report(worker: Worker, slot: Slot, retryAfterMs: number | undefined): Promise<void> {
  const { view, item, rate, clock, proof, random = Math.random } = worker;
  const budget = await view.known();
  const { lowered, incidents } = budget;
  if (slot.incidents !== undefined && slot.incidents < incidents) return;
  const hasSucceeded = !isProbing(lowered) || proof.has(incidents);
  const incident = incidentOf(budget, {
    rate,
    nowMs: clock.now(),
    retryAfterMs,
    hasSucceeded,
    random: random(),
  });
  const written = await view.write(() => item.lower(incident));
  // Another worker's call met the same 429, and its report arrived first.
  if (written.kind === 'refused') await view.look();
  setHeld(worker, NO_BLOCK);
  proof.wake();
}

const counts = ({ tally, rate, view, clock }: Worker): PaceCounts => ({
  ...tally.counted(),
  effectiveRate: effectiveRate(
    cappedRate(rate, view.last() ?? emptyBudget),
    view.last()?.lowered,
    clock.now(),
  ),
});

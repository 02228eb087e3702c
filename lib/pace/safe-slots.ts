import { TableError } from '../table/table-error.ts';
import { pauseAfter429 } from './after-refusal.ts';
import { BLOCK_MS } from './budget.ts';
import type { FleetSlots } from './fleet-slots.ts';
import { createLocalSlots } from './local-slots.ts';
import { momentOf } from './moment.ts';
import type { PaceCounts, Slot } from './pace.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import type { ApproachRequest, Clock, Moment, SlotRequest, SlotSource } from './slots.ts';

export type SafeSlotsOptions = {
  readonly fleet: FleetSlots;
  /** Requests a second that this process may send while the budget is unreachable. */
  readonly safeRate: number;
  /** How many processes may do the same. */
  readonly workers: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** Called once for each outage. */
  readonly onSafeRate: (cause: unknown) => void;
  /** Called when the budget can be reached again. */
  readonly onFleetRate: () => void;
};

/*
 * Where slots come from, and what leads from one state to the next:
 *
 *   state        slots come from                         next
 *   reached      the fleet's line                        unreachable if the table does not respond
 *   unreachable  this process alone, at the safe rate    a probe every 10 s: reached if the budget responds
 */
type Reach =
  | { readonly kind: 'reached' }
  | {
      readonly kind: 'unreachable';
      readonly safe: SlotSource;
      readonly since: Moment;
      /** When the budget is tried again. */
      readonly probeAt: Moment;
    };

type Outage = Extract<Reach, { readonly kind: 'unreachable' }>;

type Worker = SafeSlotsOptions & {
  reach: Reach;
  /** When a 429 ends that could not be reported to the budget. */
  owedUntil: Moment;
};

const REACHED: Reach = { kind: 'reached' };
const NOTHING_OWED: Moment = () => 0;

/** How often the budget is tried during an outage, in milliseconds. */
const PROBE_MS = 10_000;

/** How long after the first worker has returned others may still send outside the line: until their next probe. */
const STRAGGLERS_MS = PROBE_MS + 2_000;

/** Blocks that others may have reserved since this worker has last seen the end of the line. */
const MOST_BLOCKS = 10;

/**
 * The fleet's slots while its budget can be reached, and otherwise slots of this process alone, at a rate so low that
 * all processes together stay below the fleet's rate. They begin when the slots that others hold are used up, at
 * times that follow from the process's last slot of the line, so that processes take turns; those of a process that had
 * none begin after a whole interval, so that it does not add to the load of those already running.
 *
 * When the table is back, processes return one by one. Until the last of them must have, the line leaves out what they
 * may send: no second holds more than the rate.
 */
export function withSafeRate(options: SafeSlotsOptions): SlotSource {
  const { fleet, clock } = options;
  const worker: Worker = { ...options, reach: REACHED, owedUntil: NOTHING_OWED };
  return {
    take: (request) => take(worker, request),
    approach: (request) => approach(worker, request),
    giveBack: (slot) => {
      if (slot.untilMs !== undefined) fleet.giveBack(slot);
    },
    // During an outage every call must be able to reach the probe.
    dueAtMs: (ahead) => (worker.reach.kind === 'reached' ? fleet.dueAtMs(ahead) : clock.now()),
    throttled: (slot, retryAfterMs) => throttled(worker, slot, retryAfterMs),
    ended(slot, succeeded) {
      fleet.ended(slot, succeeded);
      if (worker.reach.kind === 'unreachable') worker.reach.safe.ended(slot, succeeded);
    },
    counts: () => counts(worker),
  };
}

async function take(worker: Worker, request: SlotRequest): Promise<Slot> {
  for (;;) {
    if (worker.reach.kind === 'unreachable' && worker.clock.now() >= worker.reach.probeAt())
      await probe(worker, worker.reach, request);
    try {
      const { fleet, reach } = worker;
      const slot = await (reach.kind === 'reached'
        ? fleet.take(request)
        : takeSafely(worker, reach, request));
      if (slot !== undefined) return slot;
    } catch (error) {
      begin(worker, error);
    }
  }
}

async function approach(worker: Worker, request: ApproachRequest): Promise<void> {
  for (;;) {
    const { reach, clock } = worker;
    if (reach.kind === 'unreachable' && clock.now() >= reach.probeAt()) await probe(worker, reach, request);
    try {
      return await (worker.reach.kind === 'reached' ? worker.fleet : worker.reach.safe).approach(request);
    } catch (error) {
      begin(worker, error);
    }
  }
}

/** Undefined if the next probe is due before the next slot. */
async function takeSafely(
  { fleet, maxWaitMs, clock }: Worker,
  { safe, probeAt }: Outage,
  request: SlotRequest,
): Promise<Slot | undefined> {
  const dueMs = safe.dueAtMs(0);
  const mayWait = dueMs - request.calledAt() <= maxWaitMs;
  if (mayWait && dueMs > probeAt()) {
    await clock.sleep(probeAt() - clock.now(), request.signal);
    return undefined;
  }
  const slot = await safe.take(request);
  fleet.record({ granted: 1, used: 1, safeRate: 1, waitedMs: Math.round(slot.waitedMs) });
  // Not a copy: by the slot itself it is known later whose end is reported.
  return slot;
}

/** Begins an outage, unless there is one already. Throws any error that is not the table's. */
function begin(worker: Worker, cause: unknown): Outage {
  if (!(cause instanceof TableError)) throw cause;
  if (worker.reach.kind === 'unreachable') return worker.reach;
  const { safeRate, maxWaitMs, clock, onSafeRate } = worker;
  const safe = createLocalSlots({
    rate: safeRate,
    maxWaitMs,
    clock,
    firstMs: firstSafeMs(worker),
    onGrid: true,
  });
  const outage: Outage = {
    kind: 'unreachable',
    safe,
    since: momentOf(clock),
    probeAt: nextProbe(worker),
  };
  worker.reach = outage;
  onSafeRate(cause);
  return outage;
}

const nextProbe = ({ clock }: Worker): Moment => momentOf(clock, clock.now() + PROBE_MS);

/**
 * Slots of one line that follow one another are one interval of the fleet's rate apart. Twice their times are two
 * intervals apart, which is half of the rate, and as many as there are workers fill an interval of the safe rate: so
 * processes that had consecutive slots take turns.
 */
function firstSafeMs({ fleet, safeRate, workers, clock }: Worker): number {
  const nowMs = clock.now();
  const intervalMs = 1000 / safeRate;
  const { slotMs, lineEndMs = nowMs } = fleet.lastSeen();
  if (slotMs === undefined) return nowMs + intervalMs;
  // A block spans a quarter of a second, or one slot.
  const blockMs = Math.max(BLOCK_MS, intervalMs / (2 * workers));
  // The line may have been pushed far ahead by a 429: no process stands still for so long on its own.
  const endMs = Math.min(Math.max(nowMs, lineEndMs), nowMs + PROBE_MS);
  const usedUpMs = endMs + Math.min(workers - 1, MOST_BLOCKS) * blockMs;
  const phaseMs = 2 * slotMs;
  return phaseMs + Math.ceil((usedUpMs - phaseMs) / intervalMs) * intervalMs;
}

/**
 * The most that all processes may send in a second at the safe rate: each as many as fit, or, where that is less than
 * one, no two in the same second, since they take turns.
 */
const outsideRateOf = ({ workers, safeRate }: Worker): number =>
  Math.ceil(safeRate < 1 ? workers * safeRate : workers * Math.ceil(safeRate));

/** Ends the outage if a block can be reserved, or the budget responds with a refusal. */
async function probe(worker: Worker, outage: Outage, request: SlotRequest): Promise<void> {
  worker.reach = { ...outage, probeAt: nextProbe(worker) };
  try {
    const outsideRate = outsideRateOf(worker);
    await worker.fleet.rejoin({ since: outage.since, outsideRate, lastsMs: STRAGGLERS_MS });
    await settle(worker);
    await worker.fleet.reserve(request);
  } catch (error) {
    if (error instanceof TableError) return;
    if (!(error instanceof PaceWaitError)) throw error;
  }
  worker.reach = REACHED;
  worker.onFleetRate();
}

/** Reports the 429 that could not be reported to the budget at the time. */
async function settle(worker: Worker): Promise<void> {
  const { fleet, clock, owedUntil } = worker;
  const leftMs = owedUntil() - clock.now();
  if (leftMs > 0) await fleet.throttled({ atMs: clock.now(), waitedMs: 0 }, leftMs);
  worker.owedUntil = NOTHING_OWED;
}

async function throttled(worker: Worker, slot: Slot, retryAfterMs: number | undefined): Promise<void> {
  if (worker.reach.kind === 'unreachable') {
    worker.fleet.record({ throttled: 1 });
    return pauseSafely(worker, worker.reach, slot, retryAfterMs);
  }
  try {
    await worker.fleet.throttled(slot, retryAfterMs);
  } catch (error) {
    await pauseSafely(worker, begin(worker, error), slot, retryAfterMs);
  }
}

/** Pauses this process; the 429 is reported once the budget can be reached again. */
async function pauseSafely(
  worker: Worker,
  { safe }: Outage,
  slot: Slot,
  retryAfterMs: number | undefined,
): Promise<void> {
  await safe.throttled(slot, retryAfterMs);
  worker.owedUntil = momentOf(worker.clock, worker.clock.now() + pauseAfter429(retryAfterMs));
}

const counts = ({ fleet, reach }: Worker): PaceCounts => ({
  ...fleet.counts(),
  ...(reach.kind === 'reached' ? {} : { effectiveRate: reach.safe.counts().effectiveRate }),
});

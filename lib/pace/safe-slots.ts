import { TableError } from '../table/table-error.ts';
import { pauseAfter429 } from './effective-rate.ts';
import type { FleetSlots } from './fleet-slots.ts';
import { createLocalSlots } from './local-slots.ts';
import type { PaceCounts, Slot } from './pace.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import type { Clock, SlotRequest, SlotSource } from './slots.ts';

export type SafeSlotsOptions = {
  readonly fleet: FleetSlots;
  /** Requests a second that this process may send while the budget cannot be reached. */
  readonly safeRate: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** Told once an outage. */
  readonly onSafeRate: (cause: unknown) => void;
  /** Told when the budget can be reached again. */
  readonly onFleetRate: () => void;
};

/*
 * Where slots come from, and what leads from one state to the next:
 *
 *   state    slots are of                                next
 *   reached  the fleet's line                            the table does not respond: away
 *   away     this process alone, at the safe rate        every 10 s a probe: reached if the budget responds, else away
 */
type Reach =
  | { readonly kind: 'reached' }
  | {
      readonly kind: 'away';
      readonly safe: SlotSource;
      /** When the budget is asked again. */
      readonly probeAtMs: number;
    };

type Away = Extract<Reach, { readonly kind: 'away' }>;

type Worker = SafeSlotsOptions & {
  reach: Reach;
  /** Until when a 429 lasts that could not be reported to the budget. */
  owedUntilMs: number;
};

const REACHED: Reach = { kind: 'reached' };

/** How often an outage is tested, in milliseconds. */
const PROBE_MS = 10_000;

/**
 * The fleet's slots while its budget can be reached, and otherwise those of this process alone, at a rate so low that
 * all processes together stay below the fleet's. The first of them comes after a whole interval: a process that has
 * just started must not add to those that were there.
 */
export function withSafeRate(options: SafeSlotsOptions): SlotSource {
  const { fleet, clock } = options;
  const worker: Worker = { ...options, reach: REACHED, owedUntilMs: 0 };
  return {
    take: (request) => take(worker, request),
    // In an outage every call must come as far as the probe.
    dueAtMs: (ahead) => (worker.reach.kind === 'reached' ? fleet.dueAtMs(ahead) : clock.now()),
    throttled: (slot, retryAfterMs) => throttled(worker, slot, retryAfterMs),
    counts: () => counts(worker),
  };
}

async function take(worker: Worker, request: SlotRequest): Promise<Slot> {
  for (;;) {
    if (worker.reach.kind === 'away' && worker.clock.now() >= worker.reach.probeAtMs)
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

/** None where the next probe comes before the next slot. */
async function takeSafely(
  { fleet, maxWaitMs, clock }: Worker,
  { safe, probeAtMs }: Away,
  request: SlotRequest,
): Promise<Slot | undefined> {
  const dueMs = safe.dueAtMs(0);
  const mayWait = dueMs - request.calledAtMs <= maxWaitMs;
  if (mayWait && dueMs > probeAtMs) {
    await clock.sleep(probeAtMs - clock.now(), request.signal);
    return undefined;
  }
  const { atMs, waitedMs } = await safe.take(request);
  fleet.note({ granted: 1, used: 1, safeRate: 1, waitedMs: Math.round(waitedMs) });
  return { atMs, waitedMs };
}

/** Begins an outage, unless one is on. Throws what is not the table's failure. */
function begin(worker: Worker, cause: unknown): Away {
  if (!(cause instanceof TableError)) throw cause;
  if (worker.reach.kind === 'away') return worker.reach;
  const { safeRate, maxWaitMs, clock, onSafeRate } = worker;
  const firstMs = clock.now() + 1000 / safeRate;
  const safe = createLocalSlots({ rate: safeRate, maxWaitMs, clock, firstMs });
  const away: Away = { kind: 'away', safe, probeAtMs: clock.now() + PROBE_MS };
  worker.reach = away;
  onSafeRate(cause);
  return away;
}

/** Ends the outage if a block can be reserved, or is refused by a budget that responds. */
async function probe(worker: Worker, away: Away, request: SlotRequest): Promise<void> {
  worker.reach = { ...away, probeAtMs: worker.clock.now() + PROBE_MS };
  try {
    await settle(worker);
    await worker.fleet.reserve(request);
  } catch (error) {
    if (error instanceof TableError) return;
    if (!(error instanceof PaceWaitError)) throw error;
  }
  worker.reach = REACHED;
  worker.onFleetRate();
}

/** Reports to the budget the 429 that could not be reported when it came. */
async function settle(worker: Worker): Promise<void> {
  const { fleet, clock, owedUntilMs } = worker;
  const leftMs = owedUntilMs - clock.now();
  if (leftMs > 0) await fleet.throttled({ atMs: clock.now(), waitedMs: 0 }, leftMs);
  worker.owedUntilMs = 0;
}

async function throttled(worker: Worker, slot: Slot, retryAfterMs: number | undefined): Promise<void> {
  if (worker.reach.kind === 'away') {
    worker.fleet.note({ throttled: 1 });
    return pauseSafely(worker, worker.reach, slot, retryAfterMs);
  }
  try {
    await worker.fleet.throttled(slot, retryAfterMs);
  } catch (error) {
    await pauseSafely(worker, begin(worker, error), slot, retryAfterMs);
  }
}

/** Pauses this process; the 429 is reported when the budget can be reached again. */
async function pauseSafely(
  worker: Worker,
  { safe }: Away,
  slot: Slot,
  retryAfterMs: number | undefined,
): Promise<void> {
  await safe.throttled(slot, retryAfterMs);
  worker.owedUntilMs = worker.clock.now() + pauseAfter429(retryAfterMs);
}

const counts = ({ fleet, reach }: Worker): PaceCounts => ({
  ...fleet.counts(),
  ...(reach.kind === 'reached' ? {} : { effectiveRate: reach.safe.counts().effectiveRate }),
});

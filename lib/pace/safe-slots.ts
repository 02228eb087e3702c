import { TableError } from '../table/table-error.ts';
import { pauseAfter429 } from './effective-rate.ts';
import type { FleetSlots } from './fleet-slots.ts';
import { createLocalSlots } from './local-slots.ts';
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

/** How often an outage is tested, in milliseconds. */
const PROBE_MS = 10_000;

/**
 * The fleet's slots while its budget can be reached, and otherwise those of this process alone, at a rate so low that
 * all processes together stay below the fleet's. The first of them comes after a whole interval: a process that has
 * just started must not add to those that were there.
 */
export function withSafeRate(options: SafeSlotsOptions): SlotSource {
  const { fleet, safeRate, maxWaitMs, clock, onSafeRate, onFleetRate } = options;
  let outage: { readonly safe: SlotSource; probeAtMs: number } | undefined;
  // A 429 that the budget could not be told of.
  let owedUntilMs = 0;

  const begin = (cause: unknown): void => {
    if (!(cause instanceof TableError)) throw cause;
    if (outage !== undefined) return;
    const firstMs = clock.now() + 1000 / safeRate;
    const safe = createLocalSlots({ rate: safeRate, maxWaitMs, clock, firstMs });
    outage = { safe, probeAtMs: clock.now() + PROBE_MS };
    onSafeRate(cause);
  };

  const settle = async () => {
    const leftMs = owedUntilMs - clock.now();
    if (leftMs > 0) await fleet.throttled({ atMs: clock.now(), waitedMs: 0 }, leftMs);
    owedUntilMs = 0;
  };

  /** Ends the outage if a block can be reserved, or is refused by a budget that answers. */
  const probe = async (current: NonNullable<typeof outage>, request: SlotRequest) => {
    current.probeAtMs = clock.now() + PROBE_MS;
    try {
      await settle();
      await fleet.reserve(request);
    } catch (error) {
      if (error instanceof TableError) return;
      if (!(error instanceof PaceWaitError)) throw error;
    }
    outage = undefined;
    onFleetRate();
  };

  const takeSafely = async (current: NonNullable<typeof outage>, request: SlotRequest) => {
    const dueMs = current.safe.dueAtMs(0);
    const mayWait = dueMs - request.calledAtMs <= maxWaitMs;
    if (mayWait && dueMs > current.probeAtMs) {
      await clock.sleep(current.probeAtMs - clock.now(), request.signal);
      return undefined;
    }
    const { atMs, waitedMs } = await current.safe.take(request);
    fleet.note({ granted: 1, used: 1, safeRate: 1, waitedMs: Math.round(waitedMs) });
    return { atMs, waitedMs };
  };

  return {
    async take(request) {
      for (;;) {
        if (outage !== undefined && clock.now() >= outage.probeAtMs) await probe(outage, request);
        if (outage === undefined) {
          try {
            return await fleet.take(request);
          } catch (error) {
            begin(error);
          }
        }
        const slot = outage === undefined ? undefined : await takeSafely(outage, request);
        if (slot !== undefined) return slot;
      }
    },
    // In an outage every call must come as far as the probe.
    dueAtMs: (ahead) => (outage === undefined ? fleet.dueAtMs(ahead) : clock.now()),
    async throttled(slot, retryAfterMs) {
      try {
        if (outage === undefined) return await fleet.throttled(slot, retryAfterMs);
      } catch (error) {
        begin(error);
        await outage?.safe.throttled(slot, retryAfterMs);
        owedUntilMs = clock.now() + pauseAfter429(retryAfterMs);
        return;
      }
      fleet.note({ throttled: 1 });
      await outage.safe.throttled(slot, retryAfterMs);
      owedUntilMs = clock.now() + pauseAfter429(retryAfterMs);
    },
    counts: () => ({
      ...fleet.counts(),
      ...(outage === undefined ? {} : { effectiveRate: outage.safe.counts().effectiveRate }),
    }),
  };
}

import { afterRefusal, pauseAfter429 } from './after-refusal.ts';
import { effectiveRate, effectiveSpacing } from './effective-rate.ts';
import { afterCall, dueAtMs, type Spacing, spacingFor } from './gcra.ts';
import { isProbing, type Lowered, lastProbeMs, lastRefusalMs, nextProbeMs, probeAtMs } from './lowered.ts';
import type { PaceCounts, Slot } from './pace.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import { createProof, type Proof } from './proof.ts';
import type { ApproachRequest, Clock, SlotRequest, SlotSource } from './slots.ts';

export type LocalSlotsOptions = {
  /** Requests a second. */
  readonly rate: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** From 0 up to 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
};

type Worker = LocalSlotsOptions & {
  readonly proof: Proof;
  /** The spacing before throttling took anything of the rate. */
  readonly full: Spacing;
  tatMs: number;
  lowered: Lowered | undefined;
  counts: { granted: number; waitedMs: number; throttled: number; incidents: number };
};

/** The slots of one process, by its own clock. */
export function createLocalSlots(options: LocalSlotsOptions): SlotSource {
  const worker: Worker = {
    ...options,
    proof: createProof(options.clock),
    full: spacingFor(options.rate),
    tatMs: Number.NEGATIVE_INFINITY,
    lowered: undefined,
    counts: { granted: 0, waitedMs: 0, throttled: 0, incidents: 0 },
  };
  return {
    take: (request) => take(worker, request),
    approach: (request) => approach(worker, request),
    // A late call only moves those that follow.
    giveBack: (slot) => worker.proof.ended(slot, false),
    dueAtMs: (ahead) => dueAfter(worker, ahead),
    throttled: async (slot, retryAfterMs) => throttled(worker, slot, retryAfterMs),
    ended: (slot, succeeded) => worker.proof.ended(slot, succeeded),
    counts: () => counts(worker),
  };
}

const spacing = ({ rate, lowered, clock }: Worker): Spacing =>
  effectiveSpacing(rate, { lowered, nowMs: clock.now() });

/** When the next slot begins: that of a probe while the platform refuses. */
const nextMs = ({ lowered, tatMs }: Worker): number =>
  isProbing(lowered) ? probeAtMs(lowered, tatMs) : tatMs;

const dueMs = (worker: Worker): number => dueAtMs(nextMs(worker), spacing(worker));

/** When a call with `ahead` others before it is due: those leave now at the earliest. */
function dueAfter(worker: Worker, ahead: number): number {
  if (ahead === 0) return dueMs(worker);
  return (
    Math.max(dueMs(worker), dueAtMs(worker.clock.now(), spacing(worker))) + ahead * spacing(worker).intervalMs
  );
}

async function approach(worker: Worker, { calledAt, signal, ahead, leadMs }: ApproachRequest): Promise<void> {
  const { clock, maxWaitMs, proof } = worker;
  for (;;) {
    signal?.throwIfAborted();
    endProbing(worker);
    const { calls, forMs } = ahead();
    const atMs = dueAfter(worker, calls);
    if (atMs - calledAt() > maxWaitMs) throw new PaceWaitError(atMs - calledAt(), maxWaitMs);
    const waitMs = atMs - leadMs() - clock.now();
    if (waitMs <= 0) return;
    await proof.sleep(Math.min(waitMs, forMs), signal);
  }
}

async function take(worker: Worker, { calledAt, signal }: SlotRequest): Promise<Slot> {
  const { clock, maxWaitMs, proof } = worker;
  // Computed again after each sleep: a 429 or a success in the meantime moves the time.
  for (endProbing(worker); clock.now() < dueMs(worker); endProbing(worker)) {
    const atMs = dueMs(worker);
    if (atMs - calledAt() > maxWaitMs) throw new PaceWaitError(atMs - calledAt(), maxWaitMs);
    await proof.sleep(atMs - clock.now(), signal);
  }
  signal?.throwIfAborted();
  const atMs = clock.now();
  if (isProbing(worker.lowered)) {
    const slotMs = Math.max(atMs, nextMs(worker));
    worker.lowered = { ...worker.lowered, probeMs: nextProbeMs(slotMs, worker.full) };
  } else worker.tatMs = afterCall(worker.tatMs, atMs, spacing(worker));
  const slot = { atMs, waitedMs: atMs - calledAt() };
  worker.counts.granted += 1;
  worker.counts.waitedMs += slot.waitedMs;
  proof.left(slot, worker.counts.incidents);
  return slot;
}

/** Once a call was accepted, the line begins again, one interval after the last probe. */
function endProbing(worker: Worker): void {
  const { lowered, proof, counts: done, clock, full } = worker;
  if (!isProbing(lowered) || !proof.has(done.incidents)) return;
  const probedMs = lastProbeMs(nextMs(worker), full);
  worker.lowered = { ...lowered, succeededMs: clock.now() };
  worker.tatMs = probedMs + spacing(worker).intervalMs;
}

function throttled(worker: Worker, slot: Slot, retryAfterMs: number | undefined): void {
  const { rate, clock, proof, lowered, full, counts: done, random = Math.random } = worker;
  done.throttled += 1;
  proof.ended(slot, false);
  const nowMs = clock.now();
  // Calls that left before the last 429 belong to the same incident.
  if (lowered !== undefined && slot.atMs < lastRefusalMs(lowered)) return;
  const pauseMs = pauseAfter429(retryAfterMs);
  const hasSucceeded = !isProbing(lowered) || proof.has(done.incidents);
  const refusal = { rate, nowMs, pauseMs, intervalMs: full.intervalMs, hasSucceeded, random: random() };
  worker.tatMs = Math.max(isProbing(lowered) ? nowMs : worker.tatMs, nowMs + pauseMs);
  worker.lowered = afterRefusal(lowered, refusal);
  done.incidents += 1;
  proof.wake();
}

const counts = ({
  counts: { granted, waitedMs, throttled: refused },
  rate,
  lowered,
  clock,
}: Worker): PaceCounts => ({
  granted,
  used: granted,
  wasted: 0,
  waitedMs,
  throttled: refused,
  effectiveRate: effectiveRate(rate, lowered, clock.now()),
});

import { type Budget, cappedRate, fullSpacing } from './budget.ts';
import { effectiveRate, leastRate } from './effective-rate.ts';
import { LOWERING, type Lowered, lastRefusalMs, OBEYED_MS, PROBE_MS } from './lowered.ts';

/** A 429 of a call that left after the last one. */
export type Refusal = {
  readonly rate: number;
  readonly nowMs: number;
  readonly retryAfterMs: number | undefined;
  /** Whether a call is known to have succeeded since the last 429: only then is the rate lowered again. */
  readonly hasSucceeded: boolean;
  readonly random: number;
};

/** How long a 429 stops all calls, in milliseconds: its `Retry-After`, at most 15 minutes; without one, 30 seconds. */
export const pauseAfter429 = (retryAfterMs: number | undefined): number =>
  Math.min(retryAfterMs ?? 30_000, 900_000);

/** The first probes after a refused one follow at this share of the pause, then further and further apart. */
const SOONER = 0.15;
const LEAST_GAP_MS = 300;
const QUICK_PROBES = 4;
const GROWTH = 1.5;

/** Probes follow one another at least this often, unless the platform asks for more. */
const MOST_GAP_MS = 5_000;

/** By then every worker that holds slots has looked: a block begins within 250 ms of a look, and lasts 250 ms. */
export const LEAST_PAUSE_MS = 1_000;

/** How long it is remembered that pauses were not to be relied on. */
const REMEMBERED_MS = 60_000;
/** The next spell's first probe leaves before the last refusal: a rounded `Retry-After` would meet one each time. */
const EARLY = 0.85;
const SHARE_OF_PAUSE = 0.6;

/** The budget after a 429: a lower rate if a call has succeeded since the last one, and when to probe. */
export function afterRefusal(budget: Budget, given: Refusal): Budget {
  const { incidents, lowered } = budget;
  const pauseMs = Math.max(LEAST_PAUSE_MS, pauseAfter429(given.retryAfterMs));
  const { intervalMs } = fullSpacing(given.rate, budget);
  const refusal = { ...given, rate: cappedRate(given.rate, budget), pauseMs, intervalMs };
  const isNew = lowered === undefined || given.hasSucceeded;
  return {
    ...budget,
    tatMs: given.nowMs + pauseMs,
    incidents: incidents + 1,
    lowered: isNew ? beginSpell(lowered, refusal) : prolongSpell(lowered, refusal),
  };
}

type Paused = Refusal & {
  readonly pauseMs: number;
  readonly intervalMs: number;
};

function beginSpell(
  last: Lowered | undefined,
  { rate: configured, nowMs, pauseMs, random }: Paused,
): Lowered {
  const before = effectiveRate(configured, last, nowMs);
  const lowered = { rate: Math.max(leastRate(configured), before * LOWERING), atMs: nowMs };
  const expectedMs = last && expectedAfter(last, nowMs);
  if (expectedMs === undefined) return lowered;
  const earlyMs = Math.min(expectedMs * EARLY, pauseMs * SHARE_OF_PAUSE, OBEYED_MS * EARLY);
  const delayMs = Math.max(LEAST_PAUSE_MS, earlyMs * jitter(random));
  return { ...lowered, expectedMs, ...(delayMs < pauseMs ? { probeMs: Math.round(nowMs + delayMs) } : {}) };
}

function prolongSpell(lowered: Lowered, { nowMs, pauseMs, intervalMs, random }: Paused): Lowered {
  const refused = (lowered.refused ?? 0) + 1;
  const quick = Math.max(LEAST_GAP_MS, pauseMs * SOONER);
  const most = Math.min(PROBE_MS, Math.max(MOST_GAP_MS, pauseMs));
  const gapMs = Math.min(most, quick * GROWTH ** Math.max(0, refused - QUICK_PROBES)) * jitter(random);
  const probeMs = Math.round(nowMs + Math.max(gapMs, intervalMs));
  return { ...lowered, refused, refusedAtMs: nowMs, probeMs };
}

/** How long the next spell will last, if the last one outlasted its pause not long ago. */
function expectedAfter(last: Lowered, nowMs: number): number | undefined {
  if (nowMs - lastRefusalMs(last) > REMEMBERED_MS) return undefined;
  if ((last.refused ?? 0) > 0) return lastRefusalMs(last) - last.atMs;
  return last.expectedMs === undefined ? undefined : last.expectedMs * EARLY;
}

const jitter = (random: number): number => 0.85 + 0.3 * random;

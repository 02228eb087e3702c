import { type Spacing, spacingFor } from './gcra.ts';
import { LOWERING, type Lowered, lastRefusalMs } from './lowered.ts';

/** The rate rises one step after this long without a 429, in milliseconds; a step is this share of the configured rate. */
const CLEAN_MS = 30_000;
const RECOVERY = 0.02;

const LEAST_SHARE = 0.05;

/** A second lowering before the rate had recovered shows the platform's limit: the rate rises to just below it. */
const NEAR_LIMIT = 0.95;
const RETURN_MS = 2_000;

/**
 * Below this share of the configured rate, a limit is believed for no longer than `BELIEVED_MS` after a 429 and
 * `PROVED_MS` after a success. Then the rate doubles every `DOUBLING_MS` up to the share: a platform whose limit really
 * is so low refuses about twice a minute.
 */
const FAST_SHARE = 0.55;
const BELIEVED_MS = 30_000;
const PROVED_MS = 10_000;
const DOUBLING_MS = 5_000;

/** How the rate returns after a spell in which the platform refused everything, however slowly it was asked. */
const AFTER_OUTAGE = 1.1;
const AFTER_SHORT_OUTAGE = 0.9;

/** The configured rate, less what throttling took and time has not yet restored; at least a twentieth of it. */
export function effectiveRate(configured: number, lowered: Lowered | undefined, nowMs: number): number {
  if (lowered === undefined) return configured;
  const steps = Math.max(0, Math.floor((nowMs - lastRefusalMs(lowered)) / CLEAN_MS));
  const rate = restored(configured, lowered, nowMs) + steps * RECOVERY * configured;
  return Math.min(configured, Math.max(rate, leastRate(configured)));
}

/** One slot moves the line by no more than this, in milliseconds, unless the configured rate itself is as low. */
const MOST_STEP_MS = 10_000;

export type SpacingFacts = {
  readonly lowered: Lowered | undefined;
  readonly nowMs: number;
  readonly lateMs?: number;
};

export function effectiveSpacing(configured: number, facts: SpacingFacts): Spacing {
  const { lowered, nowMs, lateMs = 0 } = facts;
  const spacing = spacingFor(effectiveRate(configured, lowered, nowMs), lateMs);
  return { ...spacing, intervalMs: Math.min(spacing.intervalMs, Math.max(MOST_STEP_MS, 1000 / configured)) };
}

export const leastRate = (configured: number): number => configured * LEAST_SHARE;

function restored(configured: number, lowered: Lowered, nowMs: number): number {
  const { succeededMs } = lowered;
  if (succeededMs === undefined) return lowered.rate;
  const level = Math.max(levelAfter(configured, lowered, nowMs - succeededMs), leastRate(configured));
  const climbedMs = nowMs - Math.max(lastRefusalMs(lowered) + BELIEVED_MS, succeededMs + PROVED_MS);
  const most = configured * FAST_SHARE;
  return climbedMs <= 0 || level >= most ? level : Math.min(most, level * 2 ** (climbedMs / DOUBLING_MS));
}

function levelAfter(configured: number, lowered: Lowered, sinceMs: number): number {
  const before = lowered.rate / LOWERING;
  // The platform refused a single call after a pause: the rate was not the reason.
  if ((lowered.refused ?? 0) > 0) return Math.min(configured, before * AFTER_OUTAGE);
  if (lowered.expectedMs !== undefined) return before * AFTER_SHORT_OUTAGE;
  const isFirst = before >= configured * 0.99;
  if (isFirst) return lowered.rate;
  const returned = Math.min(1, Math.max(0, sinceMs) / RETURN_MS);
  return lowered.rate + returned * (before * NEAR_LIMIT - lowered.rate);
}

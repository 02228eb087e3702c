/** What is known of past throttling: the rate it was lowered to, and when. */
export type Lowered = { readonly rate: number; readonly atMs: number };

/** The rate after a 429, as a share of the one before. */
const LOWERING = 0.7;

/** How long no 429 must come for the rate to rise a step, in milliseconds, and the step as a share of the whole. */
const CLEAN_MS = 30_000;
const RECOVERY = 0.02;

/** Requests a second that may leave at `nowMs`: the configured ones, less what throttling took and time has not given back. */
export function effectiveRate(configured: number, lowered: Lowered | undefined, nowMs: number): number {
  if (lowered === undefined) return configured;
  const steps = Math.max(0, Math.floor((nowMs - lowered.atMs) / CLEAN_MS));
  return Math.min(configured, lowered.rate + steps * RECOVERY * configured);
}

/** Lowers the rate for one incident. */
export function lowerRate(configured: number, lowered: Lowered | undefined, nowMs: number): Lowered {
  return { rate: effectiveRate(configured, lowered, nowMs) * LOWERING, atMs: nowMs };
}

/** How long a 429 stops all calls, in milliseconds: as told, at most 15 minutes; 30 seconds where it was not told. */
export function pauseAfter429(retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? 30_000, 900_000);
}

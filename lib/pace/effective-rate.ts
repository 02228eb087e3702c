/** What past throttling left behind: the rate that was lowered to, and when. */
export type Lowered = { readonly rate: number; readonly atMs: number };

/** The rate after a 429, as a share of the one before. */
const LOWERING = 0.7;

/** The rate rises one step after this long without a 429, in milliseconds; a step is this share of the configured rate. */
const CLEAN_MS = 30_000;
const RECOVERY = 0.02;

/** Requests a second allowed at `nowMs`: the configured rate, less what throttling took and time has not yet restored. */
export function effectiveRate(configured: number, lowered: Lowered | undefined, nowMs: number): number {
  if (lowered === undefined) return configured;
  const steps = Math.max(0, Math.floor((nowMs - lowered.atMs) / CLEAN_MS));
  return Math.min(configured, lowered.rate + steps * RECOVERY * configured);
}

/** Lowers the rate for one incident. */
export function lowerRate(configured: number, lowered: Lowered | undefined, nowMs: number): Lowered {
  return { rate: effectiveRate(configured, lowered, nowMs) * LOWERING, atMs: nowMs };
}

/** How long a 429 stops all calls, in milliseconds: its `Retry-After`, at most 15 minutes; without one, 30 seconds. */
export function pauseAfter429(retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? 30_000, 900_000);
}

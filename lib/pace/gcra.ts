/*
 * The generic cell rate algorithm (ITU-T I.371): one number, the theoretical arrival time (TAT), says when the next
 * call is due. A call may leave from `tat - tolerance` on, and then moves the TAT on by one interval.
 */

/** How calls are spaced, in milliseconds. */
export type Spacing = {
  /** Between two calls that are due. */
  readonly intervalMs: number;
  /** How early a call may leave: what lets a call that was late not delay all that follow. */
  readonly toleranceMs: number;
};

/** Lateness of a timer that is made up for; more of it is lost. */
const TOLERANCE_MS = 5;

/** What two requests may drift against each other on their way to the platform. */
const DRIFT_MS = 5;

/**
 * The spacing for a rate in requests a second, such that no sliding second, at either end of the wire, holds more
 * than `k = ceil(rate)` requests: k + 1 of them lie at least `k × interval − tolerance` apart, so the interval is
 * stretched until that is a second and the drift. For a rate that is no whole number that costs nothing; for one that
 * is, 1 % of it. Where calls may leave up to `lateMs` after their time, it is stretched by as much again.
 */
export function spacingFor(rate: number, lateMs = 0): Spacing {
  const most = Math.ceil(rate);
  const intervalMs = Math.max(1000 / rate, (1000 + TOLERANCE_MS + DRIFT_MS + lateMs) / most);
  return { intervalMs, toleranceMs: Math.min(TOLERANCE_MS, intervalMs / 2) };
}

/** When the next call may leave. */
export function dueAtMs(tatMs: number, { toleranceMs }: Spacing): number {
  return tatMs - toleranceMs;
}

/** The TAT after a call left at `nowMs`. A call that left late moves the rest only by what exceeds the tolerance. */
export function afterCall(tatMs: number, nowMs: number, { intervalMs }: Spacing): number {
  return Math.max(tatMs, nowMs) + intervalMs;
}

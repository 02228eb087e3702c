/*
 * The generic cell rate algorithm (ITU-T I.371): one number, the theoretical arrival time (TAT), says when the next
 * call is due. A call may leave from `tat - tolerance` on, and then advances the TAT by one interval.
 */

/** How calls are spaced, in milliseconds. */
export type Spacing = {
  readonly intervalMs: number;
  /** How early a call may leave: without it, one late call would delay all that follow. */
  readonly toleranceMs: number;
};

/** How much of a timer's lateness is made up for; any more is lost. */
const TOLERANCE_MS = 5;

/** How far two requests may drift apart or together on their way to the platform. */
const DRIFT_MS = 5;

/**
 * The spacing for a rate in requests a second, such that no sliding second, at either end of the wire, holds more than
 * `k = ceil(rate)` requests: k + 1 of them span at least `k × interval − tolerance`, so that is stretched to a second
 * plus the drift and `lateMs`: of a whole number, this costs 2 % for one process, and 3 % for a fleet.
 */
export function spacingFor(rate: number, lateMs = 0): Spacing {
  const most = Math.ceil(rate);
  const intervalMs = Math.max(1000 / rate, (1000 + TOLERANCE_MS + DRIFT_MS + lateMs) / most);
  return { intervalMs, toleranceMs: Math.min(TOLERANCE_MS, intervalMs / 2) };
}

export function dueAtMs(tatMs: number, { toleranceMs }: Spacing): number {
  return tatMs - toleranceMs;
}

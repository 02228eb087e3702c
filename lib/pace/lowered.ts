import type { Spacing } from './gcra.ts';

/**
 * What past throttling left behind. A spell begins with a 429, which lowers the rate; until a call has succeeded, calls
 * leave one at a time, as probes, and a probe that is refused prolongs the spell. Times in epoch milliseconds.
 */
export type Lowered = {
  /** The rate after the last lowering, in requests a second, and when that was. */
  readonly rate: number;
  readonly atMs: number;
  /** How many probes were refused since, and when the last one was. Default: none. */
  readonly refused?: number | undefined;
  readonly refusedAtMs?: number | undefined;
  /** How long a spell lasts, by the spells just before; undefined if there was none that outlasted its pause. */
  readonly expectedMs?: number | undefined;
  /** When the next probe may leave. Default: at the end of the pause that the 429 asked for, see `probeAtMs`. */
  readonly probeMs?: number | undefined;
  readonly succeededMs?: number | undefined;
};

/** The rate after a 429, as a share of the one before. */
export const LOWERING = 0.7;

export const lastRefusalMs = ({ atMs, refusedAtMs }: Lowered): number => refusedAtMs ?? atMs;

/** Whether the platform refuses everything as far as is known: calls leave one at a time, as probes. */
export const isProbing = (lowered: Lowered | undefined): lowered is Lowered =>
  lowered !== undefined && lowered.succeededMs === undefined;

/** A pause of up to a minute is obeyed to its end. In a longer one a probe leaves this often, in milliseconds. */
export const OBEYED_MS = 60_000;
export const PROBE_MS = 15_000;

export function probeAtMs(lowered: Lowered, pauseEndsMs: number): number {
  if (lowered.probeMs !== undefined) return lowered.probeMs;
  return pauseEndsMs - lastRefusalMs(lowered) > OBEYED_MS ? lastRefusalMs(lowered) + PROBE_MS : pauseEndsMs;
}

/** The least time after a probe that was neither refused nor accepted until another one leaves, in milliseconds. */
const UNKNOWN_MS = 1_000;

/** When the next probe may leave after one in the slot at `slotMs`, if nothing is heard of it. */
export const nextProbeMs = (slotMs: number, { intervalMs }: Spacing): number =>
  Math.round(slotMs + Math.max(UNKNOWN_MS, intervalMs));

/** The slot of the last probe, given the spacing at the full rate. */
export const lastProbeMs = (nextMs: number, { intervalMs }: Spacing): number =>
  nextMs - Math.max(UNKNOWN_MS, intervalMs);

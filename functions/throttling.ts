import type { ProblemName } from '../lib/base/aws/index.ts';
import type { ThrottledOperation } from '../lib/pace/index.ts';
import type { PlatformEvent } from '../lib/platform/index.ts';

const WINDOW_MS = 300_000;

/** How many consecutive windows must show a problem before it is reported. */
const WINDOWS = 3;

/** Minimum events of a process in a window: a mean of fewer events has no meaning. */
const MIN_EVENTS = 10;

/**
 * Creates the mean of numbers from 0 to 1, one for each event. `percent`: the lowest mean of the last three windows of
 * five minutes, in percent; 0 if one of the windows had too few events.
 */
function createShare(now: () => number) {
  let window = { slot: 0, events: 0, sum: 0 };
  let shares: readonly number[] = [];
  function turn(): void {
    const slot = Math.floor(now() / WINDOW_MS);
    if (slot === window.slot) return;
    const { events, sum } = window;
    const share = events < MIN_EVENTS ? 0 : (100 * sum) / events;
    shares = slot === window.slot + 1 ? [...shares, share].slice(-WINDOWS) : [];
    window = { slot, events: 0, sum: 0 };
  }
  return {
    add(events: number, sum: number): void {
      turn();
      window.events += events;
      window.sum += sum;
    },
    percent(): number {
      turn();
      return shares.length < WINDOWS ? 0 : Math.min(...shares);
    },
  };
}

/**
 * Creates the measures of throttling. `Throttling` is the percentage of requests that the platform throttles.
 * `RateReduced` is the percentage by which the fleet's rate is below the configured rate while calls wait. It is needed
 * because a fleet that has slowed down is rarely refused: if the platform allows half of the rate, less than 1 % of the
 * calls are refused. All processes share one budget, so the percentage in one process is that of the fleet.
 */
export function createThrottling(configuredRate: number, now: () => number) {
  const throttled = createShare(now);
  const reduced = createShare(now);
  let effectiveRate = () => configuredRate;
  return {
    /** Sets the function that returns the fleet's present rate, in requests a second. */
    followRate(follow: () => number): void {
      effectiveRate = follow;
    },
    observe(event: PlatformEvent): void {
      if (event.kind === 'request') throttled.add(1, 0);
      if (event.kind === 'throttled') throttled.add(0, 1);
      // A call that waits for less than half an interval would hardly leave sooner.
      if (event.kind === 'waited' && event.waitedMs >= 500 / configuredRate)
        reduced.add(1, Math.max(0, 1 - effectiveRate() / configuredRate));
    },
    problems: (): readonly (readonly [ProblemName, number])[] => [
      ['Throttling', throttled.percent()],
      ['RateReduced', reduced.percent()],
    ],
  };
}

/**
 * The maximum age of the last refusal of an operation that is still reported, in milliseconds. Waiting calls are tried
 * every half minute, so after an older refusal no call is waiting.
 */
const LAST_REFUSED_MS = 3_600_000;

/** The operations that alone are throttled, each with the minutes since that began. */
export const throttledProblems = (
  operations: readonly ThrottledOperation[],
  nowMs: number,
): readonly (readonly [`${'Throttling'}-${string}`, minutes: number])[] =>
  operations
    .filter(({ refusedAtMs }) => nowMs - refusedAtMs < LAST_REFUSED_MS)
    .map(({ operation, sinceMs }) => [`Throttling-${operation}`, Math.floor((nowMs - sinceMs) / 60_000)]);

import type { ProblemName } from '../lib/base/aws/index.ts';
import type { ThrottledOperation } from '../lib/pace/index.ts';
import type { PlatformEvent } from '../lib/platform/index.ts';

const WINDOW_MS = 300_000;

/** How many consecutive windows must show a problem before it is reported. */
const WINDOWS = 3;

/** A process needs at least this many events in a window: a mean of fewer has no meaning. */
const MIN_EVENTS = 10;

/**
 * Measures the mean of values from 0 to 1, one for each event, in windows of five minutes. `percent` returns the lowest
 * mean of the last three complete windows, in percent; 0 if one of them had too few events.
 */
function createWindowedMean(now: () => number) {
  let window = { slot: 0, events: 0, sum: 0 };
  let means: readonly number[] = [];
  function startNewWindow(): void {
    const slot = Math.floor(now() / WINDOW_MS);
    if (slot === window.slot) return;
    const { events, sum } = window;
    const mean = events < MIN_EVENTS ? 0 : (100 * sum) / events;
    means = slot === window.slot + 1 ? [...means, mean].slice(-WINDOWS) : [];
    window = { slot, events: 0, sum: 0 };
  }
  return {
    add(events: number, sum: number): void {
      startNewWindow();
      window.events += events;
      window.sum += sum;
    },
    percent(): number {
      startNewWindow();
      return means.length < WINDOWS ? 0 : Math.min(...means);
    },
  };
}

/**
 * Creates the measures of throttling. `Throttling` is the percentage of requests that the platform throttles.
 * `RateReduced` is the percentage by which the fleet's rate is below the configured rate while calls wait. It is needed
 * because a fleet that has slowed down is rarely throttled: if the platform allows half of the rate, it throttles less
 * than 1 % of the calls. All processes share one budget, so any process measures the percentage of the whole fleet.
 */
export function createThrottling(configuredRate: number, now: () => number) {
  const throttled = createWindowedMean(now);
  const reduced = createWindowedMean(now);
  let effectiveRate = () => configuredRate;
  return {
    /** Sets the function that returns the fleet's current rate, in requests a second. */
    followRate(follow: () => number): void {
      effectiveRate = follow;
    },
    observe(event: PlatformEvent): void {
      if (event.kind === 'request') throttled.add(1, 0);
      if (event.kind === 'throttled') throttled.add(0, 1);
      // Shorter waits are not counted: half the time between two slots passes even at the full rate.
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
 * An operation is no longer reported if its last 429 is older than this, in milliseconds. A waiting call is tried every
 * half minute, so no call is waiting then.
 */
const MAX_REFUSAL_AGE_MS = 3_600_000;

/** One problem for each operation that the platform throttles separately; its value is the minutes since that began. */
export const throttledProblems = (
  operations: readonly ThrottledOperation[],
  nowMs: number,
): readonly (readonly [`${'Throttling'}-${string}`, minutes: number])[] =>
  operations
    .filter(({ refusedAtMs }) => nowMs - refusedAtMs < MAX_REFUSAL_AGE_MS)
    .map(({ operation, sinceMs }) => [`Throttling-${operation}`, Math.floor((nowMs - sinceMs) / 60_000)]);

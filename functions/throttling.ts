import type { ProblemName } from '../lib/base/aws/index.ts';
import type { ThrottledOperation } from '../lib/pace/index.ts';
import type { PlatformEvent } from '../lib/platform/index.ts';

const WINDOW_MS = 300_000;

/** How many consecutive windows must show a problem before it is reported. */
const WINDOWS = 3;

/** Minimum events of a process in a window: a mean of fewer has no meaning. */
const MIN_EVENTS = 10;

/**
 * Creates the mean of events, each of which is a number from 0 to 1. `percent` is the lowest mean of the last three
 * windows of five minutes, in percent; 0 if one of them had too few events.
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
 * `RateReduced` is by how many percent the fleet's rate is below the configured one while calls wait for it. It is
 * needed because a fleet that has slowed down is rarely refused: if the platform allows half of the rate, less than 1 %
 * of the calls are. All processes share one budget, so the percentage in one process is that of all.
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
 * The maximum age of the last refusal of an operation whose calls still wait, in milliseconds: they are tried every
 * half minute, so after an older refusal none is waiting.
 */
const LAST_REFUSED_MS = 3_600_000;

/** The operations that are throttled while others are accepted, each with the minutes since that began. */
export const throttledProblems = (
  operations: readonly ThrottledOperation[],
  nowMs: number,
): readonly (readonly [`${'Throttling'}-${string}`, minutes: number])[] =>
  operations
    .filter(({ refusedAtMs }) => nowMs - refusedAtMs < LAST_REFUSED_MS)
    .map(({ operation, sinceMs }) => [`Throttling-${operation}`, Math.floor((nowMs - sinceMs) / 60_000)]);

import type { PlatformEvent } from '../lib/platform/index.ts';

const WINDOW_MS = 300_000;

/** How many windows in a row calls must have been throttled in. */
const WINDOWS = 3;

/** With fewer requests of a process in a window, a share says nothing. */
const FEWEST_REQUESTS = 10;

/**
 * How much the platform throttles: all processes share one budget, so each sees the share that all see. `percent` is the
 * least share of three windows of five minutes in a row; 0 where one of them had few requests.
 */
export function createThrottling(now: () => number) {
  let window = { slot: 0, requests: 0, throttled: 0 };
  let shares: readonly number[] = [];
  function turn(): void {
    const slot = Math.floor(now() / WINDOW_MS);
    if (slot === window.slot) return;
    const { requests, throttled } = window;
    const share = requests < FEWEST_REQUESTS ? 0 : (100 * throttled) / requests;
    shares = slot === window.slot + 1 ? [...shares, share].slice(-WINDOWS) : [];
    window = { slot, requests: 0, throttled: 0 };
  }
  return {
    observe({ kind }: PlatformEvent): void {
      turn();
      if (kind === 'request') window.requests += 1;
      if (kind === 'throttled') window.throttled += 1;
    },
    percent(): number {
      turn();
      return shares.length < WINDOWS ? 0 : Math.min(...shares);
    },
  };
}

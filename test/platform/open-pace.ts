import type { Pace } from '../../lib/pace/pace.ts';

/** A pace that lets every call go at once. */
export function openPace(): Pace {
  return {
    run: (call) => call({ atMs: 0, waitedMs: 0 }),
    throttled: async () => {},
    counts: () => ({
      granted: 0,
      used: 0,
      wasted: 0,
      safeRate: 0,
      waitedMs: 0,
      throttled: 0,
      effectiveRate: 1,
    }),
  };
}

import type { BreakerItem, OpenBreaker } from './breaker.ts';

/** The breaker of one process, in its memory. */
export function createMemoryBreaker(): BreakerItem {
  let breaker: OpenBreaker | undefined;
  return {
    read: async () => breaker,
    async open(opened) {
      breaker ??= opened;
    },
    async takeProbe({ sinceMs, probeAtMs }, nextProbeAtMs) {
      if (breaker?.sinceMs !== sinceMs || breaker.probeAtMs !== probeAtMs) return false;
      breaker = { ...breaker, probeAtMs: nextProbeAtMs };
      return true;
    },
    async close({ sinceMs }) {
      if (breaker?.sinceMs === sinceMs) breaker = undefined;
    },
  };
}

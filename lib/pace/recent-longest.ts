const FADE = 0.9;

/** Requests give up after 1 s, and after 1 s of connecting: for longer ones, the process was stopped meanwhile. */
const MAX_MS = 2_000;

/** The longest that something has taken recently, in milliseconds; each shorter time lets it fade. 0 before any. */
export function createRecentLongest() {
  let longestMs = 0;
  return {
    add(tookMs: number): void {
      longestMs = Math.max(tookMs > MAX_MS ? 0 : tookMs, longestMs * FADE);
    },
    ms: (): number => longestMs,
  };
}

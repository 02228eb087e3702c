/** The share of the longest recent time that remains after each shorter one. */
const FADE = 0.9;

/**
 * What took longer says nothing about the next time: requests give up after 1 s, and after 1 s of connecting, so the
 * process was stopped meanwhile, as Lambda stops it between invocations and a closed lid stops a laptop.
 */
const LONGEST_MS = 2_000;

/** The longest that something has taken recently, in milliseconds; each shorter time lets it fade. 0 before any. */
export function createRecentLongest() {
  let longestMs = 0;
  return {
    add(tookMs: number): void {
      longestMs = Math.max(tookMs > LONGEST_MS ? 0 : tookMs, longestMs * FADE);
    },
    ms: (): number => longestMs,
  };
}

export type WindowDecision =
  | { readonly kind: 'admitted' }
  /** `waitMs` until a request would be admitted if no other arrived. */
  | { readonly kind: 'refused'; readonly waitMs: number };

/**
 * The rate limiter, a sliding window: with k = ceil(rate), at most k requests are admitted in any k / rate seconds,
 * counted when they arrive. Refused requests do not count. `arrive` takes the time in milliseconds on a monotonic
 * clock.
 */
export function createSlidingWindow(ratePerSecond: number): { arrive(atMs: number): WindowDecision } {
  const most = Math.ceil(ratePerSecond);
  const windowMs = (most / ratePerSecond) * 1000;
  const admitted: number[] = [];
  return {
    arrive(atMs) {
      while (admitted[0] !== undefined && admitted[0] <= atMs - windowMs) admitted.shift();
      const [oldest] = admitted;
      if (oldest !== undefined && admitted.length >= most) {
        return { kind: 'refused', waitMs: oldest + windowMs - atMs };
      }
      admitted.push(atMs);
      return { kind: 'admitted' };
    },
  };
}

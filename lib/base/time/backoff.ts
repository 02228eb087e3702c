/** The limits of the waits between retries, in milliseconds. */
export type BackoffLimits = {
  /** The ceiling of the first wait; it doubles with each retry up to `maxDelayMs`. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
};

/** Full jitter; `retry` 1 is the first. Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. */
export function backoffMs(retry: number, random: number, { baseDelayMs, maxDelayMs }: BackoffLimits): number {
  return Math.floor(random * Math.min(maxDelayMs, baseDelayMs * 2 ** (retry - 1)));
}

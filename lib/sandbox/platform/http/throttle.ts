import { type ErrorContext, errorResponse } from './error-response.ts';
import type { PlainResponse } from './plain-response.ts';
import { type RetryAfterForm, retryAfterForm, retryAfterHeader } from './retry-after-header.ts';
import { createSlidingWindow } from './sliding-window.ts';

export type ThrottleOptions = {
  /** Requests a second; undefined for no limit. */
  readonly rate?: number | undefined;
  readonly retryAfter: RetryAfterForm | 'mixed';
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now: () => number;
};

/** Decides when a request arrives: the 429 that it gets, or undefined if it is admitted. */
export function createThrottle(
  options: ThrottleOptions,
): (context: ErrorContext, atMs: number) => PlainResponse | undefined {
  const window = options.rate === undefined ? undefined : createSlidingWindow(options.rate);
  let refusals = 0;
  return (context, atMs) => {
    const decision = window?.arrive(atMs);
    if (decision?.kind !== 'refused') return undefined;
    refusals += 1;
    const form = retryAfterForm(options.retryAfter, refusals);
    const header = retryAfterHeader(form, decision.waitMs, options.now());
    const response = errorResponse(context, 429, 'Too many requests');
    return header === undefined
      ? response
      : { ...response, headers: { ...response.headers, 'retry-after': header } };
  };
}

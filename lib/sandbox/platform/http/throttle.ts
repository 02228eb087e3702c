import type { Answer } from './answer.ts';
import { type ErrorContext, errorAnswer } from './error-answers.ts';
import { type RetryAfterForm, retryAfterForm, retryAfterHeader } from './retry-after-header.ts';
import { createSlidingWindow } from './sliding-window.ts';

export type ThrottleOptions = {
  /** Requests a second; undefined for no limit. */
  readonly rate?: number | undefined;
  readonly retryAfter: RetryAfterForm | 'mixed';
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now: () => number;
};

/** Decides at a request's arrival: the 429 that it gets, or undefined if it is let through. */
export function createThrottle(
  options: ThrottleOptions,
): (context: ErrorContext, atMs: number) => Answer | undefined {
  const window = options.rate === undefined ? undefined : createSlidingWindow(options.rate);
  let refusals = 0;
  return (context, atMs) => {
    const decision = window?.arrive(atMs);
    if (decision?.kind !== 'refused') return undefined;
    refusals += 1;
    const form = retryAfterForm(options.retryAfter, refusals);
    const header = retryAfterHeader(form, decision.waitMs, options.now());
    const answer = errorAnswer(context, 429, 'Too many requests');
    return header === undefined
      ? answer
      : { ...answer, headers: { ...answer.headers, 'retry-after': header } };
  };
}

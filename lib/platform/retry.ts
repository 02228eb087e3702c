import { type BackoffLimits, backoffMs } from '../base/index.ts';
import { isTemporaryStatus, isUnreached, type PlatformFailure, wasSent } from './failure.ts';

/** The limits of retries. Times are in milliseconds. Defaults: `defaultRetryLimits`. */
export type RetryLimits = BackoffLimits & {
  /** How many times a call is retried after a temporary failure, not counting the first attempt. Default 8. */
  readonly maxRetries: number;
  /**
   * How many times a call is retried if a server other than the platform may have responded: a gateway with a temporary
   * page, or the server at a wrong address. Default 4.
   */
  readonly maxMisdirectedRetries: number;
  /** The time limit for all attempts and waits of one call. Default 300,000. */
  readonly budgetMs: number;
  /**
   * The time limit of one call, and of connecting, as long as this client has never reached the platform. Default:
   * `budgetMs`.
   */
  readonly unreachedMs?: number | undefined;
};

/** The default limits: 8 retries, or 4 if it was not the platform that responded; backoff from 250 ms to 20 s; 5 minutes in total. */
export const defaultRetryLimits: RetryLimits = {
  maxRetries: 8,
  maxMisdirectedRetries: 4,
  baseDelayMs: 250,
  maxDelayMs: 20_000,
  budgetMs: 300_000,
};

/** The facts from which a retry is decided. */
type RetryFacts = {
  readonly failure: PlatformFailure;
  readonly mayRepeat: boolean;
  readonly attempt: number;
  readonly elapsedMs: number;
  /** Whether this client has reached the platform before. Default: true. */
  readonly wasReached?: boolean;
  readonly random: number;
  readonly limits: RetryLimits;
};

type RetryDecision =
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'stop'; readonly why: 'permanent' | 'harmful' | 'exhausted' | 'over-budget' };

/**
 * Decides about every retry. A failure that may be temporary is retried if the platform certainly did not act, or a
 * repeat does no harm. `Retry-After` beats backoff. No wait starts that would end after the time budget.
 */
export function decideRetry(facts: RetryFacts): RetryDecision {
  const { failure, mayRepeat, attempt, elapsedMs, wasReached = true, random, limits } = facts;
  const retries = retriesFor(failure, limits);
  if (retries === 0) return { kind: 'stop', why: 'permanent' };
  if (wasSent(failure) && !mayRepeat) return { kind: 'stop', why: 'harmful' };
  if (attempt > retries) return { kind: 'stop', why: 'exhausted' };
  const delayMs = requiredWaitMs(failure) ?? backoffMs(attempt, random, limits);
  const budgetMs = isUnreached(failure) && !wasReached ? limits.unreachedMs : undefined;
  if (elapsedMs + delayMs > (budgetMs ?? limits.budgetMs)) return { kind: 'stop', why: 'over-budget' };
  return { kind: 'retry', delayMs };
}

function retriesFor(failure: PlatformFailure, limits: RetryLimits): number {
  switch (failure.kind) {
    // After a 429 or a rejected wait, only the time of retries is limited and not their number, since both say when to
    // try again.
    case 'wait':
      return Number.POSITIVE_INFINITY;
    case 'status':
      if (failure.status === 429) return Number.POSITIVE_INFINITY;
      // An error with the status of a success most often comes from a gateway.
      if (failure.status === 200) return limits.maxMisdirectedRetries;
      return isTemporaryStatus(failure.status) ? limits.maxRetries : 0;
    case 'cut':
    case 'timeout':
      return limits.maxRetries;
    case 'connection':
      // If a name does not exist, the address is most likely wrong. If the resolver is unavailable, the code is
      // EAI_AGAIN.
      if (failure.code === 'ENOTFOUND') return limits.maxMisdirectedRetries;
      if (failure.proxyStatus !== undefined && !isTemporaryAtProxy(failure.proxyStatus)) return 0;
      // An interrupted handshake may succeed next time; a certificate that does not match will not.
      return failure.phase === 'tls' && failure.code !== 'ECONNRESET' ? 0 : limits.maxRetries;
    case 'redirect':
      return TEMPORARY_REDIRECTS.has(failure.status) ? limits.maxMisdirectedRetries : 0;
    case 'not-json':
      return limits.maxMisdirectedRetries;
    case 'input':
    case 'too-large':
    case 'shape':
    case 'endless':
      return 0;
    default:
      return failure satisfies never;
  }
}

/**
 * Redirects that a gateway uses temporarily, such as to its login. Other redirects are permanent, and 304 is
 * not a redirect.
 */
const TEMPORARY_REDIRECTS: ReadonlySet<number> = new Set([302, 303, 307]);

/** Whether the proxy is only overloaded. A proxy that refuses would refuse the same request again. */
const isTemporaryAtProxy = (status: number): boolean => status >= 500 || status === 408 || status === 429;

function requiredWaitMs(failure: PlatformFailure): number | undefined {
  if (failure.kind === 'wait') return failure.waitMs;
  return failure.kind === 'status' ? failure.retryAfterMs : undefined;
}

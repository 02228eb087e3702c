import { ServiceError } from '../base/aws/index.ts';
import { type BackoffLimits, backoffMs, errorText } from '../base/index.ts';
import { isRefusal, PlatformError, type PlatformFailure } from '../platform/index.ts';
import type { JobError, Outcome } from './ledger/job-row.ts';
import { JobLostError, JobRefusedError, RequeueError, UnfinishedError } from './send-context.ts';

type FailureFacts = {
  readonly error: unknown;
  /** How many sends of the job have started, including this one. */
  readonly attempts: number;
  /** How many of the earlier sends were certainly not executed. */
  readonly unsentAttempts: number;
  /** How many earlier deliveries failed and executed nothing. */
  readonly unsentTries: number;
  /** Milliseconds since the job was first claimed. */
  readonly sinceClaimMs: number;
  readonly requestSent: boolean;
  readonly mayRepeat: boolean;
  /** Whether all calls fail, not only those of this job. Default: false. */
  readonly isUnavailable?: boolean | undefined;
  readonly random: number;
};

type AfterFailure =
  | { readonly kind: 'end'; readonly outcome: Outcome }
  /**
   * Requeue the job. `counts` says what the delivery counts as: an attempt, a try that executed nothing, or
   * neither, because it only waited.
   */
  | {
      readonly kind: 'later';
      readonly delayMs: number;
      readonly counts: 'attempt' | 'try' | 'nothing';
    }
  /** Do nothing with the job, since another worker has it. */
  | { readonly kind: 'leave' };

/** How many times a job that may have been executed is sent at most, if a repeat does no harm. */
const MAX_ATTEMPTS = 5;

/** The waits between attempts. They are longer than between the tries of a call, since the message waits on the queue. */
const BACKOFF: BackoffLimits = { baseDelayMs: 2_000, maxDelayMs: 900_000 };

/**
 * A job that was never executed is given up this long after its first claim, in milliseconds, but only after as many
 * tries as the longest delays allow in that time. So a job does not fail because a clock was changed, or because it
 * only waited.
 */
const UNSENT_MS = 12 * 60 * 60 * 1_000;
const MIN_UNSENT_TRIES = UNSENT_MS / BACKOFF.maxDelayMs;

/**
 * The waits during an outage, after which work resumes within a minute. Few jobs try, since the breaker stops most of
 * them.
 */
const OUTAGE_BACKOFF: BackoffLimits = { baseDelayMs: 2_000, maxDelayMs: 60_000 };

/** Maximum delay of a job by a `Retry-After`, in milliseconds: as in the pace. */
const MAX_REQUESTED_MS = 900_000;

/** Decides what happens to a job whose runner threw. */
export function afterFailure(facts: FailureFacts): AfterFailure {
  const { error, requestSent, mayRepeat } = facts;
  if (error instanceof UnfinishedError) {
    const after = afterFailure({ ...facts, error: error.cause });
    return after.kind === 'end' ? ended({ ...after.outcome, response: error.response }) : after;
  }
  if (error instanceof JobLostError) return { kind: 'leave' };
  if (error instanceof RequeueError) return { kind: 'later', delayMs: error.delayMs, counts: 'nothing' };
  if (error instanceof JobRefusedError) return failed({ kind: error.kind, message: error.message });
  if (error instanceof PlatformError) return afterPlatformError(error, facts);
  // Any other error is one of our own. A request that was sent, and may not be repeated, is not sent again.
  const reported: JobError = { kind: 'internal', message: errorText(error) };
  if (requestSent && !mayRepeat) return unknown(reported);
  if (error instanceof ServiceError) return tryAgain(reported, facts, OUTAGE_BACKOFF);
  return requestSent ? sendAgain(reported, facts) : tryAgain(reported, facts, BACKOFF);
}

function afterPlatformError(error: PlatformError, facts: FailureFacts): AfterFailure {
  const { failure } = error;
  if (failure.kind === 'wait') return { kind: 'later', delayMs: failure.waitMs, counts: 'nothing' };
  const reported = errorOf(error);
  if (failure.kind === 'input' || isFinal(failure)) return failed(reported);
  if (error.sent && !facts.mayRepeat) return unknown(reported);
  const requestedMs = requestedDelayMs(failure);
  // A failure during an outage may be repeated once the outage is over, no matter how long it lasts.
  return error.sent && facts.isUnavailable !== true
    ? sendAgain(reported, facts, requestedMs)
    : tryAgain(reported, facts, OUTAGE_BACKOFF, requestedMs);
}

/** Decides about a repeatable job after a send that may have been executed. Such a job never becomes unknown. */
function sendAgain(error: JobError, facts: FailureFacts, minDelayMs = 0): AfterFailure {
  const attempts = facts.attempts - facts.unsentAttempts;
  if (attempts >= MAX_ATTEMPTS) return failed(error);
  const backoff = backoffMs(Math.max(1, attempts), facts.random, BACKOFF);
  return { kind: 'later', delayMs: Math.max(minDelayMs, backoff), counts: 'attempt' };
}

/** Decides about a job after a failure that certainly executed nothing, or that shows nothing about the job. */
function tryAgain(
  error: JobError,
  { unsentTries, sinceClaimMs, random }: FailureFacts,
  limits: BackoffLimits,
  minDelayMs = 0,
): AfterFailure {
  const tries = unsentTries + 1;
  if (sinceClaimMs >= UNSENT_MS && tries >= MIN_UNSENT_TRIES) return failed(error);
  return { kind: 'later', delayMs: Math.max(minDelayMs, backoffMs(tries, random, limits)), counts: 'try' };
}

/** Whether the platform rejected the request for good. After a 401 or 429, the same request may succeed. */
const isFinal = (failure: PlatformFailure): boolean =>
  isRefusal(failure) && ![401, 429].includes(failure.status);

const requestedDelayMs = (failure: PlatformFailure): number =>
  failure.kind === 'status' ? Math.min(failure.retryAfterMs ?? 0, MAX_REQUESTED_MS) : 0;

function errorOf({ failure, message }: PlatformError): JobError {
  const { kind } = failure;
  if (kind !== 'status') return { kind, message };
  const reference = failure.reference === undefined ? {} : { reference: failure.reference };
  return { kind, message, status: failure.status, ...reference };
}

const ended = (outcome: Outcome): AfterFailure => ({ kind: 'end', outcome });
const failed = (error: JobError): AfterFailure => ended({ status: 'failed', error });
const unknown = (error: JobError): AfterFailure => ended({ status: 'unknown', error });

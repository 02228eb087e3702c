import { ServiceError } from '../base/aws/index.ts';
import { type BackoffLimits, backoffMs, errorText } from '../base/index.ts';
import { isRefusal, PlatformError, type PlatformFailure } from '../platform/index.ts';
import type { JobError, Outcome } from './ledger/job-row.ts';
import { JobLostError, JobRefusedError, RequeueError, UnfinishedError } from './send-context.ts';

type FailureFacts = {
  readonly error: unknown;
  /** Sends of the job that have started, including this one. */
  readonly attempts: number;
  /** How many earlier sends were certainly not executed. */
  readonly unsentAttempts: number;
  /** Earlier deliveries that failed and executed nothing. */
  readonly unsentTries: number;
  /** Milliseconds since the job was claimed first. */
  readonly sinceClaimMs: number;
  readonly requestSent: boolean;
  readonly mayRepeat: boolean;
  /** All calls fail, not only those of this job. Default: false. */
  readonly isAway?: boolean | undefined;
  readonly random: number;
};

type AfterFailure =
  | { readonly kind: 'end'; readonly outcome: Outcome }
  /** Requeue the job. `counts`: as an attempt, as a try that executed nothing, or not at all because it only waited. */
  | {
      readonly kind: 'later';
      readonly delayMs: number;
      readonly counts: 'attempt' | 'try' | 'nothing';
    }
  /** Another worker has the job: leave it alone. */
  | { readonly kind: 'leave' };

/** Maximum sends of a job that may have been executed and that may be repeated without harm. */
const MAX_ATTEMPTS = 5;

/** Waits between attempts. The queue does the waiting, so they are longer than those within a call. */
const BACKOFF: BackoffLimits = { baseDelayMs: 2_000, maxDelayMs: 900_000 };

/**
 * How long, and how often at least, a job is tried that was never executed, from its first claim: as often as the
 * longest delays fit into that time. So a clock that was set fails no job that was tried for minutes only, nor one that
 * only waited.
 */
const UNSENT_MS = 12 * 60 * 60 * 1_000;
const MIN_UNSENT_TRIES = UNSENT_MS / BACKOFF.maxDelayMs;

/** Waits during an outage: work continues at most a minute after it. The breaker stops the other jobs, so few try. */
const OUTAGE_BACKOFF: BackoffLimits = { baseDelayMs: 2_000, maxDelayMs: 60_000 };

/** Maximum delay of a job by a `Retry-After`, in milliseconds: the same as for the pace. */
const MAX_REQUESTED_MS = 900_000;

/** Decides what happens to a job whose runner threw: the whole policy. */
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
  // An error of our own. A request that left and got no response is never sent again.
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
  // A failure during an outage may be repeated when the outage is over, however long it lasts.
  return error.sent && facts.isAway !== true
    ? sendAgain(reported, facts, requestedMs)
    : tryAgain(reported, facts, OUTAGE_BACKOFF, requestedMs);
}

/** After a send that may have been executed, of a job that may be repeated: it never becomes unknown. */
function sendAgain(error: JobError, facts: FailureFacts, leastMs = 0): AfterFailure {
  const attempts = facts.attempts - facts.unsentAttempts;
  if (attempts >= MAX_ATTEMPTS) return failed(error);
  const backoff = backoffMs(Math.max(1, attempts), facts.random, BACKOFF);
  return { kind: 'later', delayMs: Math.max(leastMs, backoff), counts: 'attempt' };
}

/** After a failure that certainly executed nothing, or that shows nothing about the job. */
function tryAgain(
  error: JobError,
  { unsentTries, sinceClaimMs, random }: FailureFacts,
  limits: BackoffLimits,
  leastMs = 0,
): AfterFailure {
  const tries = unsentTries + 1;
  if (sinceClaimMs >= UNSENT_MS && tries >= MIN_UNSENT_TRIES) return failed(error);
  return { kind: 'later', delayMs: Math.max(leastMs, backoffMs(tries, random, limits)), counts: 'try' };
}

/** True if the request itself was rejected: what was refused with 401 or 429 may succeed later. */
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

import type { PlatformFailure } from '../platform/failure.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { backoffMs } from '../time/backoff.ts';
import type { JobError, Outcome } from './ledger/job-row.ts';
import { HandBackError, JobRefusedError, TurnLostError } from './turn.ts';

/** All the facts that the decision depends on. */
export type FailureFacts = {
  readonly error: unknown;
  /** Sends of the job that have started, including this one. */
  readonly attempts: number;
  /** SENT was written in this turn. */
  readonly hasSent: boolean;
  /** A send whose outcome is unknown may be repeated. */
  readonly mayRepeat: boolean;
  /** At least 0 and below 1. */
  readonly random: number;
};

export type AfterFailure =
  | { readonly kind: 'end'; readonly outcome: Outcome }
  /** Hand the job back. `counts`: whether the attempt stays counted. */
  | { readonly kind: 'later'; readonly delayMs: number; readonly counts: boolean }
  /** Another worker has the job: leave it alone. */
  | { readonly kind: 'leave' };

/** The most sends of a job, as long as each of them was harmless. */
const MOST_ATTEMPTS = 5;

/** Waits between attempts. The queue does the waiting, so they are longer than those within a call. */
const BACKOFF = { baseDelayMs: 2_000, maxDelayMs: 900_000 };

/** What happens to a job whose runner threw: the whole policy. */
export function afterFailure(facts: FailureFacts): AfterFailure {
  const { error, attempts, hasSent, mayRepeat, random } = facts;
  const backoff = backoffMs(Math.max(1, attempts), random, BACKOFF);
  if (error instanceof TurnLostError) return { kind: 'leave' };
  if (error instanceof HandBackError) return { kind: 'later', delayMs: error.delayMs, counts: false };
  if (error instanceof JobRefusedError) return failed({ kind: error.kind, message: error.message });
  if (error instanceof PlatformError) return afterPlatformError(error, facts, backoff);
  // A failure of our own, such as an unavailable store. What was sent and got no response is never sent again.
  if (hasSent && !mayRepeat) return unknown({ kind: 'internal', message: messageOf(error) });
  return { kind: 'later', delayMs: backoff, counts: false };
}

function afterPlatformError(
  error: PlatformError,
  { attempts, mayRepeat }: FailureFacts,
  backoff: number,
): AfterFailure {
  const { failure } = error;
  if (failure.kind === 'wait') return { kind: 'later', delayMs: failure.waitMs, counts: false };
  const reported = errorOf(error);
  if (failure.kind === 'input' || isRefusal(failure)) return failed(reported);
  if (error.sent && !mayRepeat) return unknown(reported);
  if (attempts >= MOST_ATTEMPTS) return error.sent ? unknown(reported) : failed(reported);
  return { kind: 'later', delayMs: Math.max(requestedDelayMs(failure), backoff), counts: true };
}

/** True if the platform read the request and rejected it; a 401, 408 or 429 may succeed later. */
const isRefusal = (failure: PlatformFailure): boolean =>
  failure.kind === 'status' &&
  failure.status >= 400 &&
  failure.status < 500 &&
  ![401, 408, 429].includes(failure.status);

const requestedDelayMs = (failure: PlatformFailure): number =>
  failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0;

/** A failed call in the form in which a result reports it. */
function errorOf({ failure, message }: PlatformError): JobError {
  const { kind } = failure;
  if (kind !== 'status') return { kind, message };
  const reference = failure.reference === undefined ? {} : { reference: failure.reference };
  return { kind, message, status: failure.status, ...reference };
}

const failed = (error: JobError): AfterFailure => ({ kind: 'end', outcome: { status: 'failed', error } });
const unknown = (error: JobError): AfterFailure => ({ kind: 'end', outcome: { status: 'unknown', error } });
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

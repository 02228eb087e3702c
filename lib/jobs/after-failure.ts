import type { PlatformFailure } from '../platform/failure.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { backoffMs } from '../time/backoff.ts';
import type { JobError, Outcome } from './ledger/job-row.ts';
import { HandBackError, JobRefusedError, TurnLostError } from './turn.ts';

/** The facts that the decision rests on, and nothing else. */
export type FailureFacts = {
  readonly error: unknown;
  /** Sends of the job that started, this one included. */
  readonly attempts: number;
  /** SENT was written in this turn. */
  readonly hasSent: boolean;
  /** A send whose end nobody knows may be made again. */
  readonly mayRepeat: boolean;
  /** From 0 up to 1. */
  readonly random: number;
};

export type AfterFailure =
  | { readonly kind: 'end'; readonly outcome: Outcome }
  /** Hand the job back; `counts`: the attempt stays counted. */
  | { readonly kind: 'later'; readonly delayMs: number; readonly counts: boolean }
  /** Another worker has the job: leave it alone. */
  | { readonly kind: 'leave' };

/** Sends of a job at most, as long as each of them was harmless. */
export const MOST_ATTEMPTS = 5;

/** Waits between attempts: by the queue, so longer than those within a call. */
const BACKOFF = { baseDelayMs: 2_000, maxDelayMs: 900_000 };

/** What becomes of a job whose runner threw: the whole policy. */
export function afterFailure(facts: FailureFacts): AfterFailure {
  const { error, attempts, hasSent, mayRepeat, random } = facts;
  const backoff = backoffMs(Math.max(1, attempts), random, BACKOFF);
  if (error instanceof TurnLostError) return { kind: 'leave' };
  if (error instanceof HandBackError) return { kind: 'later', delayMs: error.delayMs, counts: false };
  if (error instanceof JobRefusedError) return failed({ kind: error.kind, message: error.message });
  if (error instanceof PlatformError) return afterPlatformError(error, facts, backoff);
  // Our own trouble, such as a store that is away. What was sent and has no answer is never sent again.
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
  const told = errorOf(error);
  if (failure.kind === 'input' || isRefusal(failure)) return failed(told);
  if (error.sent && !mayRepeat) return unknown(told);
  if (attempts >= MOST_ATTEMPTS) return error.sent ? unknown(told) : failed(told);
  return { kind: 'later', delayMs: Math.max(toldDelay(failure), backoff), counts: true };
}

/** True if the platform read the request and declined it; 401 and 429 may pass. */
const isRefusal = (failure: PlatformFailure): boolean =>
  failure.kind === 'status' &&
  failure.status >= 400 &&
  failure.status < 500 &&
  ![401, 408, 429].includes(failure.status);

const toldDelay = (failure: PlatformFailure): number =>
  failure.kind === 'status' ? (failure.retryAfterMs ?? 0) : 0;

/** A failed call as a result tells it. */
export function errorOf({ failure, message }: PlatformError): JobError {
  const { kind } = failure;
  if (kind !== 'status') return { kind, message };
  const reference = failure.reference === undefined ? {} : { reference: failure.reference };
  return { kind, message, status: failure.status, ...reference };
}

const failed = (error: JobError): AfterFailure => ({ kind: 'end', outcome: { status: 'failed', error } });
const unknown = (error: JobError): AfterFailure => ({ kind: 'end', outcome: { status: 'unknown', error } });
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

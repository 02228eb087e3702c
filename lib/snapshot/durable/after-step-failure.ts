import { isPassing, ServiceError } from '../../base/aws/index.ts';
import { backoffMs } from '../../base/index.ts';
import { decideRetry, isStatus, PlatformError, type RetryLimits } from '../../platform/index.ts';
import { StoredObjectError, StoreError } from '../../store/index.ts';
import { KnownRefusalError } from '../run/begin-run.ts';
import { CheckpointConflictError } from '../run/checkpoint.ts';
import { SnapshotStoppedError } from '../run/snapshot-stopped-error.ts';
import { OtherPlatformError } from '../same-platform.ts';

type AfterStepFailure = { readonly kind: 'retry'; readonly delayMs: number } | { readonly kind: 'stop' };

/** Waits between retries of a step cost nothing, so they outlast an outage of an hour; those for a 429 have no limit. */
const LIMITS: RetryLimits = {
  maxRetries: 20,
  maxMisdirectedRetries: 4,
  baseDelayMs: 2_000,
  maxDelayMs: 600_000,
  budgetMs: Number.POSITIVE_INFINITY,
};

/** The most retries after an unknown error. */
const MAX_UNNAMED = 4;

/** What to do after the attempt (1 is the first) that threw this. A refused token (401) may be temporary, as for a job. */
export function afterStepFailure(error: unknown, attempt: number, random: number): AfterStepFailure {
  if (error instanceof SnapshotStoppedError) return afterStepFailure(error.cause, attempt, random);
  if (error instanceof AggregateError) return afterAll(error.errors, attempt, random);
  if (error instanceof PlatformError) {
    const { failure } = error;
    if (isStatus(failure, 401)) return retryUpTo(LIMITS.maxRetries, attempt, random);
    return decideRetry({ failure, mayRepeat: true, attempt, elapsedMs: 0, random, limits: LIMITS });
  }
  return retryUpTo(retriesFor(error), attempt, random);
}

const retryUpTo = (most: number, attempt: number, random: number): AfterStepFailure =>
  attempt > most ? { kind: 'stop' } : { kind: 'retry', delayMs: backoffMs(attempt, random, LIMITS) };

/** Several failures of one step: it stops if one of them is permanent, and otherwise waits for the longest delay. */
function afterAll(errors: readonly unknown[], attempt: number, random: number): AfterStepFailure {
  let delayMs = 0;
  for (const error of errors) {
    const after = afterStepFailure(error, attempt, random);
    if (after.kind === 'stop') return after;
    delayMs = Math.max(delayMs, after.delayMs);
  }
  return { kind: 'retry', delayMs };
}

const PERMANENT = [StoredObjectError, OtherPlatformError, KnownRefusalError] as const;

function retriesFor(error: unknown): number {
  // Another process moved the checkpoint: the next attempt reads it again.
  if (error instanceof CheckpointConflictError) return LIMITS.maxRetries;
  if (PERMANENT.some((permanent) => error instanceof permanent)) return 0;
  if (error instanceof StoreError)
    return isPassing(error) || error.failure.kind === 'other' ? LIMITS.maxRetries : 0;
  // No time brings a setting that is missing.
  return error instanceof ServiceError && error.failure.kind === 'unconfigured' ? 0 : MAX_UNNAMED;
}

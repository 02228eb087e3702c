import { StoredObjectError } from '../snapshot/manifest.ts';

/** A command was given something it cannot take; the message says what was expected and what came. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * What the failed reading of a run tells: that `option` named a run that is not there, or else the error as it is. An
 * object that is there and cannot be read has a cause, and is nobody's usage.
 */
export const asUsage = (option: string, error: unknown): unknown =>
  error instanceof StoredObjectError && error.cause === undefined
    ? new UsageError(`${option}: ${error.message}`, { cause: error })
    : error;

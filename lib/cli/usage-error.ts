import { StoredObjectError } from '../store/stored-json.ts';

/** A command was given something it cannot take; the message says what was expected and what came. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * What the failed reading of a run says: that `option` named a run that is not there, or else the error as it is. An
 * object that is there and cannot be read is not a matter of usage.
 */
export const asUsage = (option: string, error: unknown): unknown =>
  error instanceof StoredObjectError && error.kind === 'missing'
    ? new UsageError(`${option}: ${error.message}`, { cause: error })
    : error;

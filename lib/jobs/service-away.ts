import { AwsError } from '../base/index.ts';
import { StoreError } from '../store/index.ts';
import { TableError } from '../table/index.ts';

/** True if the table, the store or another service of AWS did not respond, or was at its limit: that passes. */
export const isServiceAway = (error: unknown): boolean =>
  isServiceError(error) && ['busy', 'unreachable'].includes(error.failure.kind);

/** True for any failure of the table, the store or another service of AWS. */
export const isServiceError = (error: unknown): error is TableError | StoreError | AwsError =>
  error instanceof TableError || error instanceof StoreError || error instanceof AwsError;

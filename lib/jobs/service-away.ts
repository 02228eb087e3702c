import { AwsError, backoffMs } from '../base/index.ts';
import { StoreError } from '../store/index.ts';
import { TableError } from '../table/index.ts';

/** True if the table, the store or another service of AWS did not respond, or was at its limit: that passes. */
export const isServiceAway = (error: unknown): boolean =>
  isServiceError(error) && ['busy', 'unreachable'].includes(error.failure.kind);

/** True for any failure of the table, the store or another service of AWS. */
export const isServiceError = (error: unknown): error is TableError | StoreError | AwsError =>
  error instanceof TableError || error instanceof StoreError || error instanceof AwsError;

/** Waits between tries while a queue is away. The SDK has tried three times before each. */
const TRIES = { baseDelayMs: 1_000, maxDelayMs: 20_000 };

/** How long to wait before the next request of a queue that is away, with some jitter. `tries`: 1 is the first. */
export const queueWaitMs = (tries: number, random: number): number =>
  backoffMs(tries, 0.5 + random / 2, TRIES);

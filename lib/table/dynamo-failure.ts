import { kindOfFault, readAwsFault, UNSENT_CODES } from '../base/index.ts';
import { TableError, type TableFailure } from './table-error.ts';

/** True if a write failed because its condition did not hold. */
export const isConditionFailed = (error: unknown): boolean =>
  readAwsFault(error).code === 'ConditionalCheckFailedException';

/**
 * True if the failure leaves open whether the write was made: a connection broke, the service failed, or that may have
 * happened to an attempt before the last one. A write that DynamoDB refused was not made.
 */
export function isAmbiguous(failure: unknown): boolean {
  const { code, status, attempts } = readAwsFault(failure);
  if (UNSENT_CODES.includes(code)) return false;
  return attempts > 1 || status === undefined || status < 400 || status >= 500;
}

/** Does `work`, and throws what the SDK threw as a `TableError`. */
export async function explaining<T>(table: string, tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asTableError(table, tried, error);
  }
}

/** The error to be thrown for what the SDK threw. */
export const asTableError = (table: string, tried: string, error: unknown): TableError =>
  error instanceof TableError ? error : new TableError(tried, failureOf(table, error), { cause: error });

const EXPECTED = 'a table with the strings pk and sk as its keys';

function failureOf(table: string, error: unknown): TableFailure {
  const fault = readAwsFault(error);
  const { code, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  if (code === 'ResourceNotFoundException')
    return { kind: 'bad-table', table, expected: EXPECTED, got: 'none' };
  // Keys and rows are checked before they are sent: nothing else in our requests is invalid.
  if (code === 'ValidationException')
    return { kind: 'bad-table', table, expected: EXPECTED, got: 'one that refuses them' };
  const kind = kindOfFault(fault);
  if (kind !== 'other') return { kind, code };
  return { kind, code: status === undefined ? code : `${status} ${code}` };
}

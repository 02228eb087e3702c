import { kindOfFault, readAwsFault, UNSENT_CODES } from '../aws/fault.ts';
import type { TableFailure } from './table-error.ts';

/** True if a write failed because its condition did not hold. */
export const isConditionFailed = (error: unknown): boolean =>
  readAwsFault(error).code === 'ConditionalCheckFailedException';

/**
 * True if the failure leaves open whether the write was made: the connection broke, or the service failed. A write that
 * DynamoDB refused was not made.
 */
export function isAmbiguous(failure: unknown): boolean {
  const { code, status } = readAwsFault(failure);
  if (UNSENT_CODES.includes(code)) return false;
  return status === undefined || status < 400 || status >= 500;
}

/** Converts an error of the SDK to the failure that the table throws. */
export function explainDynamoError(table: string, error: unknown): TableFailure {
  const fault = readAwsFault(error);
  const { code, message, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  const expected = 'a table with the strings pk and sk as its keys';
  if (code === 'ResourceNotFoundException') return { kind: 'bad-table', table, expected, got: 'none' };
  if (code === 'ValidationException' && KEYS_MESSAGE.test(message))
    return { kind: 'bad-table', table, expected, got: 'one with other keys' };
  const kind = kindOfFault(fault);
  if (kind !== 'other') return { kind, code };
  return { kind, code: status === undefined ? code : `${status} ${code}` };
}

const KEYS_MESSAGE = /key element|key schema|Missing the key|mismatch for key/;

import { kindOfFault, readAwsFault, UNSENT_CODES } from '../aws/fault.ts';
import type { TableFailure } from './table-error.ts';

/** A write's condition did not hold. */
export const isConditionFailed = (error: unknown): boolean =>
  readAwsFault(error).code === 'ConditionalCheckFailedException';

/**
 * Nobody knows whether a write was made whose attempt failed like this: it broke on the way, or the service failed.
 * What DynamoDB refused, it did not make.
 */
export const isAmbiguous = (failure: unknown): boolean => {
  const { code, status } = readAwsFault(failure);
  if (UNSENT_CODES.includes(code)) return false;
  return status === undefined || status < 400 || status >= 500;
};

/** Reads what the SDK threw, for the error that leaves the table. */
export const explainDynamoError = (table: string, error: unknown): TableFailure => {
  const fault = readAwsFault(error);
  const { code, message, status } = fault;
  const expected = 'a table with the strings pk and sk as its keys';
  if (code === 'ResourceNotFoundException') return { kind: 'bad-table', table, expected, got: 'none' };
  if (code === 'ValidationException' && KEYS_MESSAGE.test(message))
    return { kind: 'bad-table', table, expected, got: 'one with other keys' };
  const kind = kindOfFault(fault);
  if (kind !== 'other') return { kind, code };
  return { kind, code: status === undefined ? code : `${status} ${code}` };
};

const KEYS_MESSAGE = /key element|key schema|Missing the key|mismatch for key/;

import { kindOfFault, readAwsFault, UNSENT_CODES } from '../base/index.ts';
import { TableError, type TableFailure } from './table-error.ts';
import type { CheckKeys } from './table-keys.ts';

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

/** The table of a failed call. */
export type FailedTable = { readonly tableName: string; readonly checkKeys: CheckKeys };

/** Does `work`, and throws what the SDK threw as a `TableError`. */
export async function explaining<T>(table: FailedTable, tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw await explained(table, tried, error);
  }
}

/** The error to be thrown for what the SDK threw. */
export async function explained(table: FailedTable, tried: string, error: unknown): Promise<TableError> {
  if (error instanceof TableError) return error;
  return new TableError(tried, await explainDynamoError(table, error), { cause: error });
}

/**
 * Converts an error of the SDK to the failure that the table throws. DynamoDB refuses wrong keys with a
 * ValidationException, whose words differ between its implementations: only the table's description is reliable.
 */
async function explainDynamoError(
  { tableName: table, checkKeys }: FailedTable,
  error: unknown,
): Promise<TableFailure> {
  const fault = readAwsFault(error);
  const { code, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  const expected = 'a table with the strings pk and sk as its keys';
  if (code === 'ResourceNotFoundException') return { kind: 'bad-table', table, expected, got: 'none' };
  const keys = code === 'ValidationException' ? await checkKeys() : undefined;
  if (keys?.kind === 'other') return { kind: 'bad-table', table, expected, got: keys.got };
  const kind = kindOfFault(fault);
  if (kind !== 'other') return { kind, code };
  const shown = status === undefined ? code : `${status} ${code}`;
  return { kind, code: shown, ...(keys?.kind === 'unchecked' ? { unchecked: keys.code } : {}) };
}

import type { TableFailure } from './table-error.ts';

/** What the SDK threw, as far as a decision needs it. `attempts`: requests that the SDK sent. */
type DynamoFault = {
  readonly code: string;
  readonly message: string;
  readonly status: number | undefined;
  readonly attempts: number;
};

const readDynamoFault = (error: unknown): DynamoFault => {
  const { httpStatusCode: status, attempts = 1 } = readMetadata(error);
  if (!(error instanceof Error)) return { code: 'unknown', message: '', status, attempts };
  const nodeCode = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code: status === undefined ? nodeCode : error.name, message: error.message, status, attempts };
};

/** A write's condition did not hold. */
export const isConditionFailed = (error: unknown): boolean =>
  readDynamoFault(error).code === 'ConditionalCheckFailedException';

/**
 * Nobody knows whether a write that threw this was made: it broke on the way, or the service failed, or a request
 * before the last may have been answered by neither.
 */
export const isAmbiguous = (error: unknown): boolean => {
  const { code, status, attempts } = readDynamoFault(error);
  if (unsentCodes.includes(code)) return false;
  return attempts > 1 || status === undefined || status < 400 || status >= 500;
};

/** Reads what the SDK threw, for the error that leaves the table. */
export const explainDynamoError = (table: string, error: unknown): TableFailure => {
  const { code, message, status } = readDynamoFault(error);
  const expected = 'a table with the strings pk and sk as its keys';
  if (code === 'ResourceNotFoundException') return { kind: 'bad-table', table, expected, got: 'none' };
  if (code === 'ValidationException' && keysMessage.test(message))
    return { kind: 'bad-table', table, expected, got: 'one with other keys' };
  if (status === 401 || status === 403 || deniedCodes.includes(code)) return { kind: 'denied', code };
  if ((status !== undefined && status >= 500) || busyCodes.includes(code)) return { kind: 'busy', code };
  if (status === undefined || status < 400) return { kind: 'unreachable', code };
  return { kind: 'other', code: `${status} ${code}` };
};

// Thrown before any request leaves.
const unsentCodes: readonly string[] = ['CredentialsProviderError', 'TokenProviderError'];

// DynamoDB answers these with status 400.
const deniedCodes: readonly string[] = [
  ...unsentCodes,
  'AccessDeniedException',
  'ExpiredTokenException',
  'IncompleteSignatureException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'UnrecognizedClientException',
];

const busyCodes: readonly string[] = [
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
];

const keysMessage = /key element|key schema|Missing the key|mismatch for key/;

type Metadata = { readonly httpStatusCode?: number; readonly attempts?: number };

const readMetadata = (error: unknown): Metadata =>
  error instanceof Error &&
  '$metadata' in error &&
  typeof error.$metadata === 'object' &&
  error.$metadata !== null
    ? error.$metadata
    : {};

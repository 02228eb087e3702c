import type { StoreFailure } from './error.ts';
import { errorCode } from './error-code.ts';

/** What the SDK threw, as far as a decision needs it: S3's error code or Node's, the HTTP status, requests sent. */
export type S3Fault = {
  readonly code: string;
  readonly status: number | undefined;
  readonly attempts: number;
};

export const readS3Fault = (error: unknown): S3Fault => {
  const metadata = readMetadata(error);
  const name = error instanceof Error ? error.name : 'unknown';
  const code = metadata.httpStatusCode === undefined ? (errorCode(error) ?? name) : name;
  return { code, status: metadata.httpStatusCode, attempts: metadata.attempts ?? 1 };
};

/** Reads what the SDK threw, for the error that leaves the store. */
export const explainS3Error = (error: unknown): StoreFailure => {
  const { code, status } = readS3Fault(error);
  if (code === 'NoSuchBucket') return { kind: 'missing', what: 'bucket' };
  if (code === 'NoSuchKey' || code === 'NotFound') return { kind: 'missing', what: 'object' };
  if (code === 'KeyTooLongError')
    return { kind: 'bad-key', expected: 'at most 1024 bytes with the prefix', got: code };
  if (status === 401 || status === 403 || deniedCodes.includes(code)) return { kind: 'denied', code };
  if (status === 503 || code === 'ConditionalRequestConflict') return { kind: 'busy', code };
  if (status === undefined && unreachableCode.test(code)) return { kind: 'unreachable', code };
  return { kind: 'other', code: status === undefined ? code : `${status} ${code}` };
};

// Thrown before a request leaves, or with status 400.
const deniedCodes: readonly string[] = [
  'CredentialsProviderError',
  'TokenProviderError',
  'ExpiredToken',
  'InvalidToken',
];

// Node's system calls, its proxy and TLS errors, and the SDK's time-outs.
const unreachableCode = /^(E[A-Z_]+|ERR_(STREAM_PREMATURE_CLOSE|PROXY|TLS|SSL)\w*|\w*CERT\w*|TimeoutError)$/;

type Metadata = { readonly httpStatusCode?: number; readonly attempts?: number };

const readMetadata = (error: unknown): Metadata =>
  error instanceof Error &&
  '$metadata' in error &&
  typeof error.$metadata === 'object' &&
  error.$metadata !== null
    ? error.$metadata
    : {};

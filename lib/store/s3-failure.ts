import { kindOfFault, readAwsFault } from '../aws/fault.ts';
import type { StoreFailure } from './error.ts';

/** Converts an error of the SDK to the failure that the store throws. */
export function explainS3Error(error: unknown): StoreFailure {
  const fault = readAwsFault(error);
  const { code, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  if (code === 'NoSuchBucket') return { kind: 'missing', what: 'bucket' };
  if (code === 'NoSuchKey' || code === 'NotFound') return { kind: 'missing', what: 'object' };
  if (code === 'KeyTooLongError')
    return { kind: 'bad-key', expected: 'at most 1024 bytes with the prefix', got: code };
  const kind = kindOfFault(fault);
  if (kind !== 'other') return { kind, code };
  return { kind, code: status === undefined ? code : `${status} ${code}` };
}

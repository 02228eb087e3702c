import type { StoreFailure } from './error.ts';
import { errorCode } from './error-code.ts';

/** Converts an error of the file system to a failure. */
export function explainFileError(error: unknown): StoreFailure {
  const code = errorCode(error) ?? 'unknown';
  switch (code) {
    case 'ENOENT':
      // Where nothing can be made, nothing is missing.
      return isOfMkdir(error) ? { kind: 'denied', code } : { kind: 'missing', what: 'object' };
    case 'EACCES':
    case 'EPERM':
      return { kind: 'denied', code };
    case 'EROFS':
      return { kind: 'read-only', code };
    case 'ENOSPC':
    case 'EDQUOT':
      return { kind: 'full', code };
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
    case 'ENOTEMPTY':
      return { kind: 'key-conflict', occupant: 'an object or a folder of the same name' };
    default:
      return { kind: 'other', code };
  }
}

const isOfMkdir = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'mkdir';

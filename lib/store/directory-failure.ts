import type { StoreFailure } from './error.ts';
import { errorCode } from './error-code.ts';

/** Converts an error of the file system to a failure. */
export function explainFileError(error: unknown): StoreFailure {
  const code = errorCode(error) ?? 'unknown';
  switch (code) {
    case 'ENOENT':
      return { kind: 'missing', what: 'object' };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return { kind: 'denied', code };
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
    case 'ENOTEMPTY':
      return { kind: 'key-conflict', occupant: 'an object or a folder of the same name' };
    default:
      return { kind: 'other', code };
  }
}

import { getSystemErrorMessage } from 'node:util';

/** Why the system refused something, in words: `no such file or directory`. Of other errors, their message. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { errno, code, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return 'a folder';
  return errno === undefined ? message : getSystemErrorMessage(errno);
}

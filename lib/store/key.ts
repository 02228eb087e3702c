import { StoreError } from './error.ts';

/** The folder in which a directory store keeps its locks and half-written files; no key begins with it. */
export const reservedFolder = '.store';

/** Throws a `bad-key` StoreError unless every store can hold an object under `key`. */
export const checkKey = (key: string): void => refuse('use a key', key, whatKeyLacks(key));

/** Whether `checkKey` would pass. */
export const isKey = (key: string): boolean => whatKeyLacks(key) === undefined;

/** Throws a `bad-key` StoreError unless some key can start with `prefix`: the folders it names must be a key's. */
export const checkPrefix = (prefix: string): void => {
  const end = prefix.lastIndexOf('/');
  if (end !== -1) refuse('use a prefix', prefix, whatKeyLacks(prefix.slice(0, end)));
};

/** Orders keys by their UTF-8 bytes, as S3 lists them. */
export const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

// S3's limit. The store's own prefix counts too: S3 answers KeyTooLongError where only both together pass it.
const longestKeyBytes = 1024;

const whatKeyLacks = (key: string): string | undefined => {
  if (Buffer.byteLength(key) > longestKeyBytes) return `at most ${longestKeyBytes} bytes of UTF-8`;
  if (!key.isWellFormed()) return 'whole Unicode characters';
  // Neither XML, in which S3 lists keys, nor a terminal carries control characters.
  if (/[\p{Cc}\\]/u.test(key)) return 'no control characters and no backslash';
  const segments = key.split('/');
  if (segments.includes('')) return 'names with single slashes between them and none at either end';
  if (segments.includes('.') || segments.includes('..')) return 'no segment "." or ".."';
  // A file system may hold two spellings for one name, so the folder is refused in every case.
  if (segments[0]?.toLowerCase() === reservedFolder) return `a first segment other than "${reservedFolder}"`;
  return undefined;
};

const refuse = (tried: string, got: string, expected: string | undefined): void => {
  if (expected !== undefined)
    throw new StoreError(tried, { kind: 'bad-key', expected, got: got.slice(0, 200) });
};

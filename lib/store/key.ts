import { StoreError } from './error.ts';

/** The folder for a directory store's locks and half-written files; no key begins with it. */
export const RESERVED_FOLDER = '.store';

/** The file that keeps a directory store out of git; no key is this. */
export const IGNORE_FILE = '.gitignore';

/** Throws a `bad-key` StoreError unless every store can hold an object under `key`. */
export const checkKey = (key: string): void => refuse('use a key', key, whatKeyMustBe(key));

export const isKey = (key: string): boolean => whatKeyMustBe(key) === undefined;

/** Throws a `bad-key` StoreError unless a key can start with `prefix`: the folders that it names must be valid. */
export function checkPrefix(prefix: string): void {
  const end = prefix.lastIndexOf('/');
  if (end !== -1) refuse('use a prefix', prefix, whatKeyMustBe(prefix.slice(0, end)));
}

/** Orders keys by their UTF-8 bytes, as S3 lists them. */
export const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

// S3's limit. The store's own prefix counts too: if only both together exceed it, S3 responds with KeyTooLongError.
const LONGEST_KEY_BYTES = 1024;

function whatKeyMustBe(key: string): string | undefined {
  if (Buffer.byteLength(key) > LONGEST_KEY_BYTES) return `at most ${LONGEST_KEY_BYTES} bytes of UTF-8`;
  if (!key.isWellFormed()) return 'well-formed Unicode';
  // XML, in which S3 lists keys, cannot contain control characters, and a terminal cannot show them.
  if (/[\p{Cc}\\]/u.test(key)) return 'no control characters and no backslash';
  const segments = key.split('/');
  if (segments.includes('')) return 'names with single slashes between them and none at either end';
  if (segments.includes('.') || segments.includes('..')) return 'no segment "." or ".."';
  // A file system may ignore case, so the folder is refused in upper and lower case.
  const reserved = [RESERVED_FOLDER, IGNORE_FILE].find((name) => name === segments[0]?.toLowerCase());
  return reserved === undefined ? undefined : `a first segment other than "${reserved}"`;
}

function refuse(tried: string, got: string, expected: string | undefined): void {
  if (expected !== undefined)
    throw new StoreError(tried, { kind: 'bad-key', expected, got: got.slice(0, 200) });
}

import { RESERVED_FOLDER } from '../locations.ts';
import { StoreError } from './error.ts';

/** The file that keeps a directory store out of git; no key has this name. */
export const IGNORE_FILE = '.gitignore';

/** Throws a `bad-key` StoreError unless an object with this key can be stored in every kind of store. */
export const checkKey = (key: string): void => refuse('use a key', key, whatKeyMustBe(key));

/** Whether an object with this key can be stored in every kind of store. */
export const isKey = (key: string): boolean => whatKeyMustBe(key) === undefined;

/** Throws a `bad-key` StoreError unless a key can start with `prefix`: the folders in it must be valid. */
export function checkPrefix(prefix: string): void {
  const end = prefix.lastIndexOf('/');
  if (end !== -1) refuse('use a prefix', prefix, whatKeyMustBe(prefix.slice(0, end)));
}

/** Orders keys by their UTF-8 bytes, as S3 lists them. */
export const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

// S3's limit. The store's own prefix counts too: if only both together exceed it, S3 responds with KeyTooLongError.
const MAX_KEY_BYTES = 1024;

function whatKeyMustBe(key: string): string | undefined {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return `at most ${MAX_KEY_BYTES} bytes of UTF-8`;
  if (!key.isWellFormed()) return 'well-formed Unicode';
  // Control characters are not allowed in XML, in which S3 lists keys, and a terminal cannot show them.
  if (/[\p{Cc}\\]/u.test(key)) return 'no control characters and no backslash';
  const segments = key.split('/');
  if (segments.includes('')) return 'names with single slashes between them and none at either end';
  if (segments.includes('.') || segments.includes('..')) return 'no segment "." or ".."';
  // A file system may ignore case, so the reserved names are refused in upper and lower case.
  const reserved = [RESERVED_FOLDER, IGNORE_FILE].find((name) => name === segments[0]?.toLowerCase());
  return reserved === undefined ? undefined : `a first segment other than "${reserved}"`;
}

function refuse(tried: string, got: string, expected: string | undefined): void {
  if (expected !== undefined)
    throw new StoreError(tried, { kind: 'bad-key', expected, got: got.slice(0, 200) });
}

/**
 * The segment of a key that stands for an id from outside: 1 to 128 of `A-Z a-z 0-9 . _ : -`. `idOfSegment` returns the
 * id. Lower-case letters, digits, `-`, and `.` and `_` inside an id stay unchanged. Segments of different ids differ
 * even where case is ignored, never begin with `.` or `_`, which SQL engines skip, never end with `.`, and have at most
 * 240 characters: with a suffix, a file name.
 *
 * | in the segment | in the id |
 * |---|---|
 * | `!a` to `!z` | a capital. |
 * | `!!order-17!` | `ORDER-17`: four capitals or colons or more, with only digits, `.` and `-` between; `_` is a colon. |
 * | `!-` | a colon. |
 * | `!.`, `!_` | `.` and `_` at the beginning. |
 * | `!0` | nothing: it follows a final `.`, and precedes a name that Windows reserves, such as `con`. |
 *
 * `!` is among the characters that S3 calls safe, is allowed in file names everywhere and unescaped in the path of
 * a URL, and occurs in no id. `%` would be decoded along the way, `=` makes a folder a partition, and `~` is one to
 * avoid in S3.
 */
export const keySegment = (id: string): string =>
  id
    .replace(SHIFTED_RUN, shifted)
    .replace(/^[._]/, '!$&')
    .replace(/\.$/, '.!0')
    .replace(RESERVED_BY_WINDOWS, '!0$&');

/** The id that a segment stands for; undefined if `keySegment` returns no such segment. */
export function idOfSegment(segment: string): string | undefined {
  // One expression reads from left to right, since `!0` may also be the end of a run and a digit after it.
  const id = segment.replace(
    /!!([^!]*)!|!([a-z])|!-|!([._])|(!0)/g,
    (_, run?: string, capital?: string, start?: string, nothing?: string) =>
      nothing === undefined ? (run?.replaceAll('_', ':') ?? capital ?? start ?? ':').toUpperCase() : '',
  );
  return !id.includes('!') && keySegment(id) === segment ? id : undefined;
}

const SHIFTED_RUN = /[A-Z:](?:[A-Z0-9.:-]*[A-Z:])?/g;
const RESERVED_BY_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/;

/** With this many capitals and colons or more, one escape for all is shorter than an escape for each. */
const MIN_IN_RUN = 4;

function shifted(run: string): string {
  const lower = run.toLowerCase();
  return run.replace(/[^A-Z:]/g, '').length >= MIN_IN_RUN
    ? `!!${lower.replaceAll(':', '_')}!`
    : run.replace(/[A-Z:]/g, (one) => `!${one === ':' ? '-' : one.toLowerCase()}`);
}

import { getSystemErrorMessage, stripVTControlCharacters } from 'node:util';
import type * as z from 'zod/mini';

/**
 * The faults that a schema found, each as a string: the path, what was expected, and what was found. If there are more
 * than `max`, the last string says how many more there are. `checkedValue`: the value that was checked.
 * `describePath` describes a path.
 * `hide` removes secrets from keys and values.
 */
export function faultsOf(
  error: z.core.$ZodError,
  checkedValue: unknown,
  parts: {
    readonly describePath?: (path: readonly PropertyKey[]) => string;
    readonly hide?: Hide;
    readonly show?: (value: unknown) => string;
    readonly max?: number;
  } = {},
): readonly string[] {
  const {
    describePath = (path) => path.join('.'),
    hide = (text) => text,
    max = MAX_FAULTS,
    ...options
  } = parts;
  const show = options.show ?? ((value) => preview(value, hide));
  const named = (path: readonly PropertyKey[]) =>
    shortened(hide(describePath(path).slice(0, MAX_READ)), MAX_PATH_LENGTH);
  const faults: string[] = [];
  let others = 0;
  for (const issue of widestFirst(error.issues, max)) {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    const room = keys.slice(0, max - faults.length);
    others += keys.length - room.length;
    for (const key of room) {
      // The fault of an invalid key is about the key, and not about its value.
      const got = () =>
        show(issue.code === 'invalid_key' ? issue.path.at(-1) : valueAt(checkedValue, issue.path));
      faults.push(
        key === undefined
          ? `${named(issue.path)}: expected ${expectationOf(issue)}, got ${got()}`
          : `${named([...issue.path, key])}: not a known name`,
      );
    }
  }
  return others === 0 ? faults : [...faults, `and ${others} more`];
}

/** Sorts faults if not all can be listed: faults of an object come before faults of its members. */
const widestFirst = (issues: readonly z.core.$ZodIssue[], max: number) =>
  issues.length <= max ? issues : issues.toSorted((a, b) => a.path.length - b.path.length);

/** Maximum faults in one message: without a limit, a hostile input would cause a message of its own size. */
const MAX_FAULTS = 50;
const MAX_PATH_LENGTH = 300;
/** Maximum characters of a string that `Hide` functions search, since they are slow. */
export const MAX_READ = 4_000;

/** Cuts a string to at most `max` characters, and marks the cut with `…`. */
export const shortened = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}…` : text;

/** The message of an error; any other thrown value as a string. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Cuts a message to 4,000 characters, since it may quote text from outside, and is stored in logs, results and
 * rows.
 */
export const messageOf = (text: string): string => shortened(text, MAX_MESSAGE_LENGTH);

const MAX_MESSAGE_LENGTH = 4_000;

/** The first line of a message. The SDK adds further lines for developers to its errors. */
export const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** Names in quotes, for a message: the first 20, each shortened, and the number of the others. */
export function listed(names: readonly string[]): string {
  const first = names.slice(0, MAX_NAMES).map((name) => JSON.stringify(shortened(name, MAX_NAME_LENGTH)));
  const others = names.length - first.length;
  return others > 0 ? `${first.join(', ')} and ${others} more` : first.join(', ');
}

const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 60;

/** Removes secrets from a string. Called with at most `MAX_READ` characters, since it is slow. */
export type Hide = (text: string) => string;

/** A value in a few words: strings quoted and shortened, lists by their size. */
export function preview(value: unknown, hide: Hide = (text) => text): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(hide(value.slice(0, MAX_READ))) : String(value);
  return shortened(text, 60);
}

/**
 * Matches Zod's default message, which a fault has if the schema sets none. With a Zod locale loaded, the message
 * continues after the colon.
 */
const DEFAULT_MESSAGE = /^Invalid input(?::|$)/;

function expectationOf(issue: z.core.$ZodIssue): string {
  // The message of this issue is about the whole record. The messages of its inner issues are about the key.
  if (issue.code === 'invalid_key')
    return `${[...new Set(issue.issues.map(expectationOf))].join(' or ')} as a name`;
  if (!DEFAULT_MESSAGE.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return EXPECTED[issue.expected] ?? issue.expected;
    case 'invalid_union':
      return [...new Set(issue.errors.flat().map(expectationOf))].join(' or ') || 'another type';
    default:
      return issue.code;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}

/**
 * Makes a string from outside safe to show: one line of at most `max` characters, without terminal control
 * characters.
 */
export function shownText(given: string, max: number): string {
  const text = shortened(given, max);
  // Incomplete sequences and other control characters could still move the cursor.
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/**
 * Makes JSON from outside safe to show: escapes characters that move the cursor or reverse the direction of writing. If
 * `mark` is two backslashes, they stay escaped after the JSON is parsed.
 */
export const shownJson = (json: string, mark = '\\'): string =>
  // JSON itself escapes control characters below 0x20. The characters replaced here occur only in strings, so the
  // value stays the same.
  json.replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `${mark}u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Hides the credentials and the query of a URL. In `name:x@host`, `name` may be a user rather than a scheme, so it is
 * hidden too.
 */
export const hideUser = (location: string): string =>
  location.replace(/^((?:https?|s3|ftp|socks\w?):\/+)?.*@/is, '$1***@').replace(/\?.*$/s, '?***');

/**
 * Quotes a word for a shell if necessary: in double quotes if possible, which mean the same in POSIX shells, cmd and
 * PowerShell. On Windows, a word that needs other quotes is replaced with a placeholder.
 */
export function quoted(word: string): string {
  if (/^[\w./:,=@%+-]+$/.test(word)) return word;
  if (/^[\w ./:,=@+~#()[\]{}<>|&*?;'-]+$/.test(word)) return `"${word}"`;
  return process.platform === 'win32' ? '"…"' : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The operating system's reason in words, such as `no such file or directory`. For other errors, their message. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { errno, code, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return 'a folder';
  return errno === undefined ? message : getSystemErrorMessage(errno);
}

/**
 * The known name that was probably meant: it differs by at most two typos, or begins with `written`. Otherwise
 * undefined.
 */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  const typos = Math.min(2, Math.floor(written.length / 3));
  const close = names
    .filter((name) => Math.abs(name.length - written.length) <= typos)
    .map((name) => ({ name, distance: editDistance(written, name) }))
    .filter(({ distance }) => distance <= typos)
    .toSorted((a, b) => a.distance - b.distance);
  return close[0]?.name ?? (written.length >= 3 ? names.find((name) => name.startsWith(written)) : undefined);
}

/** The number of characters to insert, delete or replace to turn one string into the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const changed = at(row, column - 1) + (to[column - 1] === character ? 0 : 1);
      next.push(Math.min(changed, at(row, column) + 1, at(next, column - 1) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY;

import { stripVTControlCharacters } from 'node:util';
import { shortened } from './faults.ts';

/** One line of somebody else's text, safe to show: of at most `most` characters, without terminal control characters. */
export function shownText(given: string, most: number): string {
  const text = shortened(given, most);
  // What is left of a sequence, and every other control character, could still move the cursor.
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** JSON that may hold somebody else's text, safe to show: what could move the cursor or reverse the text is escaped. */
export const shownJson = (json: string): string =>
  // JSON always escapes the lower controls. These occur only in strings, so the value stays the same.
  json.replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Less than the longest message of a terminal. */
const LONGEST_LINE = 10_000;
const LONGEST_MSG = 500;

/** At most 15,000 characters: of a line over 10,000 its level, time and message, and in `cut` its beginning. */
export function boundedLine(line: string): string {
  const shown = shownJson(line);
  if (shown.length <= LONGEST_LINE) return shown;
  const { level, timestamp, msg } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const cut = shortened(shown, LONGEST_LINE / 2);
  return shownJson(
    JSON.stringify({ level, timestamp, msg: shortened(String(msg), LONGEST_MSG), length: line.length, cut }),
  );
}

/** Hides the user information of a URL, with or without its scheme, and a query. */
export const hideUser = (location: string): string =>
  location.replace(/^([a-z][a-z0-9+.-]*:\/+)?.*@/is, '$1***@').replace(/\?.*$/s, '?***');

/**
 * A word as a shell reads it back: in quotes if it needs them, where they will do in double ones, which POSIX shells, cmd and
 * PowerShell take alike. On Windows, what they do not is a placeholder.
 */
export function quoted(word: string): string {
  if (/^[\w./:,=@%+-]+$/.test(word)) return word;
  if (/^[\w ./:,=@+~#()[\]{}<>|&*?;-]+$/.test(word)) return `"${word}"`;
  return process.platform === 'win32' ? '"…"' : `'${word.replaceAll("'", "'\\''")}'`;
}

import {
  type JsonBytes,
  OPEN_ARRAY,
  OPEN_OBJECT,
  parseJson,
  QUOTE,
  skipText,
  skipValue,
} from '../../base/json/index.ts';

/* Reads values of a validated response by the position where they start; 0 stands for a missing value. */

/** Parses the string whose opening quote is at `at`, and which ends before `end`. */
export function stringAt(json: JsonBytes, at: number, end = skipText(json, at)): string {
  const text = json.bytes.toString('utf8', at + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** Maximum bytes of a value to read; no useful time or title is longer. */
const MAX_SCALAR_LENGTH = 4_096;

/**
 * Parses the value at a position; undefined if it is missing. Instead of a value of over 4,096 bytes, it returns a
 * placeholder of the same type: '', NaN or {}. Integers beyond 2^53 are bigints.
 */
export function scalarAt(json: JsonBytes, at: number): unknown {
  if (at === 0) return undefined;
  const end = skipValue(json, at, 0);
  if (end - at <= MAX_SCALAR_LENGTH) return parseJson(json.bytes.toString('utf8', at, end));
  const first = json.bytes[at];
  if (first === QUOTE) return '';
  return first === OPEN_OBJECT || first === OPEN_ARRAY ? {} : Number.NaN;
}

/** Whether the value at a position is this string, with or without escapes. */
export function isStringAt(json: JsonBytes, at: number, text: string): boolean {
  if (at === 0 || json.bytes[at] !== QUOTE) return false;
  const end = skipText(json, at);
  // A character takes at most six bytes, as an escape.
  return end - at <= 6 * text.length + 2 && stringAt(json, at, end) === text;
}

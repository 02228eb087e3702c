import { parseJson } from '../../base/index.ts';
import { type JsonBytes, OPEN_ARRAY, OPEN_OBJECT, QUOTE, skipText, skipValue } from './json-bytes.ts';

/* Values of a response whose bytes were validated, by the place where they start; 0 stands for a value that is not there. */

/** The string whose opening quote is at `at`. */
export function textAt(json: JsonBytes, at: number): string {
  const text = json.bytes.toString('utf8', at + 1, skipText(json, at) - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** Longer than any time or title that is of use. */
const LONGEST_SCALAR = 4_096;

/** The value at a place, or if it has over 4,096 bytes one of its type: '', NaN or {}. Integers beyond 2^53 are bigints. */
export function scalarAt(json: JsonBytes, at: number): unknown {
  if (at === 0) return undefined;
  const end = skipValue(json, at, 0);
  if (end - at <= LONGEST_SCALAR) return parseJson(json.bytes.toString('utf8', at, end));
  const first = json.bytes[at];
  if (first === QUOTE) return '';
  return first === OPEN_OBJECT || first === OPEN_ARRAY ? {} : Number.NaN;
}

/** True if the value at a place is this text, however it is written. */
export function isTextAt(json: JsonBytes, at: number, text: ExpectedText): boolean {
  if (at === 0 || json.bytes[at] !== QUOTE) return false;
  const { plain, value } = text;
  const end = skipText(json, at);
  if (end - at === plain.length && json.bytes.compare(plain, 0, plain.length, at, end) === 0) return true;
  // The longest way to write a character is an escape of six bytes.
  return end - at <= 6 * value.length + 2 && json.bytes.subarray(at, end).includes(BACKSLASH)
    ? textAt(json, at) === value
    : false;
}

/** A text, and its JSON as it is most often written. */
export type ExpectedText = { readonly value: string; readonly plain: Buffer };

export const expectedText = (value: string): ExpectedText => ({
  value,
  plain: Buffer.from(JSON.stringify(value)),
});

const BACKSLASH = 0x5c;

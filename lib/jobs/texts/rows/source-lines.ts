import type { Encoding } from './encoding.ts';

/** The most bytes (for UTF-16: code units) in a line or a row. */
export const LONGEST_ROW = 1_048_576;

/** A physical line: its number (from 1), its text, and its line ending (`''` at the end of the source). */
export type SourceLine = {
  readonly number: number;
  readonly text: string;
  readonly end: string;
  readonly fault?: string;
  readonly isTooLong: boolean;
};

/**
 * The physical lines of a source, each ended by CRLF, LF or CR. A line that is too long is not held in memory: it has
 * a fault and no text. A line with bytes that are invalid in the encoding has a fault, and U+FFFD in their place.
 */
export async function* sourceLines(
  bytes: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<SourceLine> {
  const decode = lineDecoder(encoding.name);
  let number = 0;
  for await (const { units, end, isTooLong } of rawLines(unitsOf(bytes, encoding))) {
    number += 1;
    yield isTooLong
      ? {
          number,
          text: '',
          end,
          isTooLong,
          fault: `the line: expected at most ${LONGEST_ROW} bytes, got more`,
        }
      : { number, end, isTooLong, ...decode(units) };
  }
}

const isUtf16 = (name: string) => name.startsWith('utf-16');

/**
 * The source as text in which lines can be found: code units for UTF-16, otherwise one character per byte. No other
 * encoding uses the bytes of CR and LF inside a character, so each line can be decoded alone, and a broken line does
 * not affect the others.
 */
export async function* unitsOf(bytes: AsyncIterable<Uint8Array>, { name, markBytes }: Encoding) {
  let skip = markBytes;
  let half: Uint8Array = new Uint8Array(0);
  for await (const piece of bytes) {
    const skipped = Math.min(skip, piece.byteLength);
    skip -= skipped;
    const rest = piece.subarray(skipped);
    if (!isUtf16(name)) {
      yield bufferOf(rest).toString('latin1');
      continue;
    }
    const joined = Buffer.concat([half, rest]);
    const even = joined.byteLength - (joined.byteLength % 2);
    half = joined.subarray(even);
    yield (name === 'utf-16be' ? joined.subarray(0, even).swap16() : joined.subarray(0, even)).toString(
      'utf16le',
    );
  }
  // Half a code unit is not a character, and neither is a lone surrogate.
  if (half.byteLength > 0) yield '\uD800';
}

const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Turns the units of a line into text, with a fault if they are invalid. */
export function lineDecoder(name: string): (units: string) => Pick<SourceLine, 'text' | 'fault'> {
  const fault = `the line: expected ${name}, got invalid bytes`;
  if (isUtf16(name))
    return (units) => (units.isWellFormed() ? { text: units } : { text: units.toWellFormed(), fault });
  const strict = new TextDecoder(name, { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder(name, { ignoreBOM: true });
  return (units) => {
    const line = Buffer.from(units, 'latin1');
    try {
      return { text: strict.decode(line) };
    } catch {
      return { text: lenient.decode(line), fault };
    }
  };
}

type RawLine = { readonly units: string; readonly end: string; readonly isTooLong: boolean };

async function* rawLines(pieces: AsyncIterable<string>): AsyncGenerator<RawLine> {
  let held: string[] = [];
  let length = 0;
  const add = (units: string) => {
    length += units.length;
    if (length > LONGEST_ROW) held = [];
    else held.push(units);
  };
  const line = (end: string): RawLine => {
    const made = { units: held.join(''), end, isTooLong: length > LONGEST_ROW };
    [held, length] = [[], 0];
    return made;
  };
  let carried = '';
  for await (const piece of pieces) {
    const text = carried + piece;
    // The character after a CR decides whether the CR ends the line by itself.
    carried = text.endsWith('\r') ? '\r' : '';
    const end = text.length - carried.length;
    let from = 0;
    for (const match of text.slice(0, end).matchAll(/\r\n|\n|\r/g)) {
      add(text.slice(from, match.index));
      yield line(match[0]);
      from = match.index + match[0].length;
    }
    add(text.slice(from, end));
  }
  if (carried !== '') yield line(carried);
  else if (length > 0) yield line('');
}

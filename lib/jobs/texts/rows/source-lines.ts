import type { Encoding } from './encoding.ts';
import { notRows } from './rows-error.ts';

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

/** Lines in order: those that a piece of the source ends, made as they are taken, before the next piece is read. */
export type SourceLines = AsyncGenerator<Iterable<SourceLine>>;

/**
 * The physical lines of a source, each ended by CRLF, LF or CR. A line that is too long is not held in memory: it has
 * a fault and no text. A line with bytes that are invalid in the encoding has a fault, and U+FFFD in their place.
 */
export const sourceLines = (bytes: AsyncIterable<Uint8Array>, encoding: Encoding): SourceLines =>
  decoded('line', bytes, encoding, createLineSplitter());

/**
 * The elements of a JSON array, as the lines of NDJSON would be: their numbers are those of the elements, from 1, since
 * many may be on one line. Memory holds one element. Throws `RowsError` for an array that does not end, or that is
 * followed by more.
 */
export const arrayElements = (bytes: AsyncIterable<Uint8Array>, encoding: Encoding): SourceLines =>
  decoded('element', bytes, encoding, createElementSplitter());

async function* decoded(
  what: 'line' | 'element',
  bytes: AsyncIterable<Uint8Array>,
  encoding: Encoding,
  splitter: Splitter,
): SourceLines {
  const decode = lineDecoder(encoding.name);
  const fault = `the ${what}: expected at most ${LONGEST_ROW} bytes, got more`;
  let number = 0;
  const numbered = ({ units, ...line }: RawLine): SourceLine => {
    number += 1;
    return { number, ...line, ...(line.isTooLong ? { text: '', fault } : decode(units)) };
  };
  for await (const units of unitsOf(bytes, encoding)) yield splitter.add(units).map(numbered);
  yield splitter.end().map(numbered);
}

const isUtf16 = (name: string) => name.startsWith('utf-16');

/**
 * The source as text in which lines can be found: code units for UTF-16, otherwise one character per byte. No other
 * encoding uses the bytes of CR and LF inside a character, so each line can be decoded alone, and a broken line does
 * not affect the others.
 */
async function* unitsOf(bytes: AsyncIterable<Uint8Array>, { name, markBytes }: Encoding) {
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
function lineDecoder(name: string): (units: string) => Pick<SourceLine, 'text' | 'fault'> {
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

/** A line before it is decoded; without its units if it is too long. */
type RawLine = { readonly units: string; readonly end: string; readonly isTooLong: boolean };

/** What ends with a piece of the source, and with the last one. */
type Splitter = {
  readonly add: (units: string) => IteratorObject<RawLine>;
  readonly end: () => IteratorObject<RawLine>;
};

/** Gathers the pieces of one line after the other, as far as there is room for a line. */
function gatherLine() {
  let held: string[] = [];
  let length = 0;
  return {
    add(units: string) {
      length += units.length;
      if (length > LONGEST_ROW) held = [];
      else held.push(units);
    },
    isEmpty: () => length === 0,
    take(end: string): RawLine {
      const line = { units: held.join(''), end, isTooLong: length > LONGEST_ROW };
      [held, length] = [[], 0];
      return line;
    },
  };
}

function createLineSplitter(): Splitter {
  const line = gatherLine();
  let carried = '';
  return {
    *add(units) {
      const text = carried + units;
      // The character after a CR decides whether the CR ends the line by itself.
      carried = text.endsWith('\r') ? '\r' : '';
      const end = text.length - carried.length;
      let from = 0;
      for (const match of text.slice(0, end).matchAll(/\r\n|\n|\r/g)) {
        line.add(text.slice(from, match.index));
        yield line.take(match[0]);
        from = match.index + match[0].length;
      }
      line.add(text.slice(from, end));
    },
    *end() {
      if (carried !== '' || !line.isEmpty()) yield line.take(carried);
    },
  };
}

function createElementSplitter(): Splitter {
  const element = gatherLine();
  // Depth 0 is before and after the array, 1 between its elements.
  let [depth, inString, isEscaped, isOver] = [0, false, false, false];
  return {
    *add(units) {
      let from = 0;
      for (let at = 0; at < units.length; at += 1) {
        const character = units[at] ?? '';
        if (inString) {
          inString = isEscaped || character !== '"';
          isEscaped = !isEscaped && character === '\\';
          continue;
        }
        if (depth === 0) {
          if (character === '[' && !isOver) depth = 1;
          else if (/\S/.test(character)) throw notRows('a JSON array with something after it');
          from = at + 1;
          continue;
        }
        if (character === '"') inString = true;
        else if (character === '[' || character === '{') depth += 1;
        else if (character === ']' || character === '}') depth -= 1;
        isOver = depth === 0;
        if (!isOver && !(depth === 1 && character === ',')) continue;
        element.add(units.slice(from, at));
        from = at + 1;
        const made = element.take('');
        if (made.isTooLong || made.units.trim() !== '') yield made;
      }
      element.add(units.slice(from));
    },
    end() {
      if (isOver) return [].values();
      throw notRows('a JSON array that does not end: is the file complete?');
    },
  };
}

import { isUtf8 } from 'node:buffer';
import { decoderOf, isUtf16 } from './encodings.ts';
import { notRowsError } from './text-error.ts';

/** Maximum bytes (for UTF-16: code units) of a line or a row. */
export const MAX_ROW_LENGTH = 1_048_576;

/** A physical line: its number (from 1), its text, and its line ending (`''` at the end of the source). */
export type TextLine = {
  readonly number: number;
  readonly text: string;
  readonly end: string;
  readonly fault?: string;
  readonly isTooLong: boolean;
};

/** Lines in order, in batches: each batch has the lines that end in one chunk of the source. */
export type TextLines = AsyncGenerator<readonly TextLine[]>;

/**
 * The lines of a text, each ended by CRLF, LF or CR, or the elements of a JSON array, with their numbers. A line that is
 * too long has a fault and no text. A line with bytes that are invalid in the encoding has a fault, and U+FFFD for these
 * bytes. Throws `TextError` for a broken array.
 */
export async function* textLines(
  what: 'line' | 'element',
  bytes: AsyncIterable<Uint8Array>,
  { encoding, name }: { readonly encoding: string; readonly name?: string | undefined },
): TextLines {
  const splitter = what === 'line' ? createLineSplitter() : createElementSplitter(name);
  const decode = await lineDecoder(encoding, what);
  const fault = `the ${what}: expected at most ${MAX_ROW_LENGTH} bytes, got more`;
  let number = 0;
  const numbered = ({ units, ...line }: RawLine): TextLine => {
    number += 1;
    if (line.isTooLong) return { number, ...line, text: '', fault };
    const decoded = decode(units);
    // Removes the byte order mark at the start of the text.
    if (number > 1 || !decoded.text.startsWith('\uFEFF')) return { number, ...line, ...decoded };
    return { number, ...line, ...decoded, text: decoded.text.slice(1) };
  };
  for await (const units of unitsOf(bytes, encoding)) yield splitter.add(units).map(numbered);
  yield splitter.end().map(numbered);
}

/**
 * The source as strings in which lines can be found: code units for UTF-16, otherwise one character for each byte. Other
 * encodings do not use the bytes of CR and LF within a character, so a broken line does not affect other lines.
 */
async function* unitsOf(bytes: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<string> {
  if (!isUtf16(encoding)) {
    for await (const { buffer, byteOffset, byteLength } of bytes)
      yield Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
    return;
  }
  let half = Buffer.alloc(0);
  for await (const piece of bytes) {
    const joined = Buffer.concat([half, piece]);
    const whole = joined.subarray(0, joined.byteLength & ~1);
    half = joined.subarray(whole.byteLength);
    // `joined` is a copy, so that the source keeps its bytes.
    yield (encoding === 'utf-16be' ? whole.swap16() : whole).toString('utf16le');
  }
  // A lone surrogate stands for the odd last byte, and is a fault too.
  if (half.byteLength > 0) yield '\uD800';
}

async function lineDecoder(
  encoding: string,
  what: 'line' | 'element',
): Promise<(units: string) => Pick<TextLine, 'text' | 'fault'>> {
  const fault = `the ${what}: expected ${encoding}, got invalid bytes: choose another encoding with --encoding`;
  if (isUtf16(encoding))
    return (text) => (text.isWellFormed() ? { text } : { text: text.toWellFormed(), fault });
  const decode = await decoderOf(encoding);
  return (units) => {
    const bytes = Buffer.from(units, 'latin1');
    const text = decode(bytes);
    const isBroken = text.includes('\uFFFD') && !(encoding === 'utf-8' && isUtf8(bytes));
    return isBroken ? { text, fault } : { text };
  };
}

type RawLine = { readonly units: string; readonly end: string; readonly isTooLong: boolean };

type Splitter = {
  readonly add: (units: string) => readonly RawLine[];
  readonly end: () => readonly RawLine[];
};

/** Collects the pieces of one line after another, up to the maximum length. */
function gatherLine() {
  let pieces: string[] = [];
  let length = 0;
  return {
    add(units: string) {
      length += units.length;
      if (length > MAX_ROW_LENGTH) pieces = [];
      else pieces.push(units);
    },
    isEmpty: () => length === 0,
    take(end: string): RawLine {
      const line = { units: pieces.join(''), end, isTooLong: length > MAX_ROW_LENGTH };
      pieces = [];
      length = 0;
      return line;
    },
  };
}

function createLineSplitter(): Splitter {
  const line = gatherLine();
  let carried = '';
  return {
    add(units) {
      const text = carried + units;
      // A CR at the end waits for the next character, which shows whether the line ends with CR or with CRLF.
      carried = text.endsWith('\r') ? '\r' : '';
      const lines: RawLine[] = [];
      let from = 0;
      for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r(?!$)/g)) {
        line.add(text.slice(from, index));
        lines.push(line.take(end));
        from = index + end.length;
      }
      line.add(text.slice(from, text.length - carried.length));
      return lines;
    },
    end: () => (carried !== '' || !line.isEmpty() ? [line.take(carried)] : []),
  };
}

function createElementSplitter(name: string | undefined): Splitter {
  const element = gatherLine();
  // Depth 0 is before and after the array, 1 between its elements.
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  let isOver = false;
  return {
    add(units) {
      const elements: RawLine[] = [];
      let from = 0;
      for (let at = 0; at < units.length; at += 1) {
        const character = units[at] ?? '';
        if (inString) {
          inString = isEscaped || character !== '"';
          isEscaped = !isEscaped && character === '\\';
          continue;
        }
        if (depth === 0) {
          if (isOver && /\S/.test(character))
            throw notRowsError('a JSON array with other characters after it', { name });
          if (character === '[') depth = 1;
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
        const complete = element.take('');
        if (complete.isTooLong || complete.units.trim() !== '') elements.push(complete);
      }
      element.add(units.slice(from));
      return elements;
    },
    end() {
      if (isOver) return [];
      throw notRowsError('a JSON array that does not end: check that the file is complete', { name });
    },
  };
}

import type { Encoding } from './encoding.ts';
import { notRows } from './file-kind.ts';
import { LONGEST_ROW, lineDecoder, type SourceLine, unitsOf } from './source-lines.ts';

/**
 * The elements of a JSON array, as the lines of NDJSON would be: their numbers are those of the elements, from 1, since
 * many may be on one line. Memory holds one element. Throws `RowsError` for an array that does not end, or that is
 * followed by more.
 */
export async function* arrayElements(
  bytes: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<SourceLine> {
  const decode = lineDecoder(encoding.name);
  let number = 0;
  for await (const { units, isTooLong } of elementsIn(unitsOf(bytes, encoding))) {
    number += 1;
    yield isTooLong
      ? {
          number,
          text: '',
          end: '',
          isTooLong,
          fault: `the element: expected at most ${LONGEST_ROW} bytes, got more`,
        }
      : { number, end: '', isTooLong, ...decode(units) };
  }
}

type Element = { readonly units: string; readonly isTooLong: boolean };

/** What the next character is within: depth 0 is before and after the array, 1 between its elements. */
type Place = { depth: number; inString: boolean; isEscaped: boolean; isOver: boolean };

async function* elementsIn(pieces: AsyncIterable<string>): AsyncGenerator<Element> {
  const place: Place = { depth: 0, inString: false, isEscaped: false, isOver: false };
  let held: string[] = [];
  let length = 0;
  const add = (units: string) => {
    length += units.length;
    if (length > LONGEST_ROW) held = [];
    else held.push(units);
  };
  const element = (): Element => {
    const made = { units: held.join(''), isTooLong: length > LONGEST_ROW };
    [held, length] = [[], 0];
    return made;
  };
  const isElement = ({ units, isTooLong }: Element) => isTooLong || units.trim() !== '';
  for await (const piece of pieces) {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const event = step(place, piece.charCodeAt(at));
      if (event === 'within') continue;
      if (event !== 'begins') {
        add(piece.slice(from, at));
        const made = element();
        if (isElement(made)) yield made;
      }
      from = at + 1;
    }
    if (place.depth > 0) add(piece.slice(from));
  }
  if (!place.isOver) throw notRows('a JSON array that does not end: is the file complete?');
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [...'"\\,[]{}'].map((each) =>
  each.charCodeAt(0),
);

/** Takes one character: it is within an element, or it begins the array, or ends an element. */
function step(place: Place, code: number): 'within' | 'begins' | 'ends' {
  if (place.inString) {
    if (place.isEscaped) place.isEscaped = false;
    else if (code === BACKSLASH) place.isEscaped = true;
    else if (code === QUOTE) place.inString = false;
    return 'within';
  }
  if (place.depth === 0) return outside(place, code);
  if (code === QUOTE) place.inString = true;
  else if (code === OPEN || code === OPEN_LIST) place.depth += 1;
  else if (code === CLOSE || code === CLOSE_LIST) {
    place.depth -= 1;
    if (place.depth > 0) return 'within';
    place.isOver = true;
    return 'ends';
  } else if (code === COMMA && place.depth === 1) return 'ends';
  return 'within';
}

/** Before the array, and after it, there is only white space. */
function outside(place: Place, code: number): 'begins' {
  const isSpace = code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code === OPEN_LIST && !place.isOver) place.depth = 1;
  else if (!isSpace) throw notRows('a JSON array with something after it');
  return 'begins';
}

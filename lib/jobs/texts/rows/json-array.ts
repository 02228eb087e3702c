import type { Encoding } from './encoding.ts';
import { notRows } from './file-kind.ts';
import { decodedLines, gatherLine, type RawLine, type SourceLine, unitsOf } from './source-lines.ts';

/**
 * The elements of a JSON array, as the lines of NDJSON would be: their numbers are those of the elements, from 1, since
 * many may be on one line. Memory holds one element. Throws `RowsError` for an array that does not end, or that is
 * followed by more.
 */
export const arrayElements = (
  bytes: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<SourceLine> => decodedLines('element', elementsIn(unitsOf(bytes, encoding)), encoding);

/** What the next character is within: depth 0 is before and after the array, 1 between its elements. */
type Place = { depth: number; inString: boolean; isEscaped: boolean; isOver: boolean };

async function* elementsIn(pieces: AsyncIterable<string>): AsyncGenerator<RawLine> {
  const place: Place = { depth: 0, inString: false, isEscaped: false, isOver: false };
  const element = gatherLine();
  for await (const piece of pieces) {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const event = step(place, piece.charCodeAt(at));
      if (event === 'within') continue;
      if (event === 'ends') {
        element.add(piece.slice(from, at));
        const made = element.take('');
        if (made.isTooLong || made.units.trim() !== '') yield made;
      }
      from = at + 1;
    }
    if (place.depth > 0) element.add(piece.slice(from));
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

import type { Encoding } from './encoding.ts';
import { notRows } from './rows-error.ts';
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

async function* elementsIn(pieces: AsyncIterable<string>): AsyncGenerator<RawLine> {
  const element = gatherLine();
  // Depth 0 is before and after the array, 1 between its elements.
  let [depth, inString, isEscaped, isOver] = [0, false, false, false];
  for await (const piece of pieces) {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece[at] ?? '';
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
      element.add(piece.slice(from, at));
      from = at + 1;
      const made = element.take('');
      if (made.isTooLong || made.units.trim() !== '') yield made;
    }
    element.add(piece.slice(from));
  }
  if (!isOver) throw notRows('a JSON array that does not end: is the file complete?');
}

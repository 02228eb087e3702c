import { endOfString } from '../../json/json-limits.ts';

/**
 * The source text of each element of an array that is a direct member of a JSON object: `"results": [ {…}, {…} ]`.
 * `text` must be valid JSON (parse it first): then only brackets inside strings do not nest, and strings are skipped.
 * If the member occurs twice the last one wins, as in `JSON.parse`. Without such an array there are no elements. If
 * `member` is null, the text is itself the array.
 */
export function sliceRecords(text: string, member: string | null): readonly string[] {
  let slices: string[] = [];
  let depth = member === null ? 1 : 0;
  let inMember = false;
  let elementStart = 0;
  let lastText = { start: 0, end: 0 };
  const endElement = (at: number) => {
    const slice = text.slice(elementStart, at).trim();
    if (slice !== '') slices.push(slice);
    elementStart = at + 1;
  };
  const isNamed = (at: number) =>
    member === null ||
    (/^\s*:\s*$/.test(text.slice(lastText.end, at)) &&
      JSON.parse(text.slice(lastText.start, lastText.end)) === member);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at) + 1;
      // A name is at depth 1; nothing else is asked for.
      if (depth === 1) lastText = { start: at, end };
      at = end - 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (depth === 1) {
        inMember = isNamed(at);
        if (inMember) slices = [];
        inMember &&= code === OPEN_ARRAY;
        elementStart = at + 1;
      }
      depth += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (inMember && depth === 2) endElement(at);
      depth -= 1;
      if (depth === 1) inMember = false;
    } else if (code === COMMA && inMember && depth === 2) endElement(at);
  }
  return slices;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

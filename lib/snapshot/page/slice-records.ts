/**
 * The source text of each element of an array that is a direct member of a JSON object: `"results": [ {…}, {…} ]`.
 * `text` must be valid JSON (parse it first): then only brackets inside strings do not nest, and strings are skipped.
 * If the member occurs twice the last one wins, as in `JSON.parse`. Without such an array there are no elements.
 */
export function sliceRecords(text: string, member: string): readonly string[] {
  let slices: string[] = [];
  let depth = 0;
  let inMember = false;
  let elementStart = 0;
  let lastText = { source: '', end: 0 };
  const endElement = (at: number) => {
    const slice = text.slice(elementStart, at).trim();
    if (slice !== '') slices.push(slice);
    elementStart = at + 1;
  };
  for (const { 0: token, index: at } of text.matchAll(TOKENS)) {
    if (inMember && depth === 2 && (token === ',' || token === ']')) endElement(at);
    if (token === '{' || token === '[') {
      if (depth === 1) {
        const isNamed =
          /^\s*:\s*$/.test(text.slice(lastText.end, at)) && JSON.parse(lastText.source) === member;
        inMember = token === '[' && isNamed;
        if (isNamed) slices = [];
        elementStart = at + 1;
      }
      depth += 1;
    } else if (token === '}' || token === ']') {
      depth -= 1;
      if (depth === 1) inMember = false;
    } else if (token !== ',') {
      lastText = { source: token, end: at + token.length };
    }
  }
  return slices;
}

/** Whole strings, and the characters that give JSON its structure. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;

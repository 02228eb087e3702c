/** Whether a string begins with the first piece, ends with the last one, and contains the others in order in between. */
export function matchesPieces(text: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

/**
 * The pieces between the `*` of a wildcard, in which `\*` and `\\` are escapes. Undefined if two `*` follow each other
 * or a `\` escapes nothing: AWS rejects both.
 */
export function piecesOf(wildcard: string): readonly string[] | undefined {
  if (!/^(?:\\[\\*]|[^\\*]|\*(?!\*))*$/s.test(wildcard)) return undefined;
  const pieces = [''];
  for (const [part] of wildcard.matchAll(/\*|(?:\\.|[^\\*])+/gs)) {
    if (part === '*') pieces.push('');
    else pieces[pieces.length - 1] = part.replaceAll(/\\(.)/g, '$1');
  }
  return pieces;
}

const IGNORED_CASE = {
  whole: (form: string) => `^(?:${form})$`,
  start: (form: string) => `^(?:${form})`,
  end: (form: string) => `(?:${form})$`,
} as const;

/**
 * Creates a case-insensitive test for a text, or for a text's start or end. As in AWS, each character of the wanted
 * text matches its lower and its upper case: `ß` also matches `SS`, but `SS` does not match `ß`.
 */
export function ignoringCase(wanted: string, part: keyof typeof IGNORED_CASE): (value: string) => boolean {
  const form = [...wanted].map((character) =>
    [character.toLowerCase(), character.toUpperCase()].map(RegExp.escape).join('|'),
  );
  const test = new RegExp(IGNORED_CASE[part](form.map((each) => `(?:${each})`).join('')), 'u');
  return (value) => test.test(value);
}

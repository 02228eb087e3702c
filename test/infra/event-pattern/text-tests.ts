/** Whether a string begins with the first piece, ends with the last, and has the others in order between them. */
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
 * The pieces between the `*` of a wildcard, in which `\*` and `\\` stand for themselves. Undefined if two `*` follow
 * each other or a `\` escapes nothing: AWS refuses both.
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
 * The test for a text, or a text's start or end, without regard to case. As AWS does, each character of the wanted text
 * stands for its lower and its upper case: `ß` also for `SS`, but `SS` not for `ß`.
 */
export function ignoringCase(wanted: string, part: keyof typeof IGNORED_CASE): (value: string) => boolean {
  const form = [...wanted].map((character) =>
    [character.toLowerCase(), character.toUpperCase()].map(RegExp.escape).join('|'),
  );
  const test = new RegExp(IGNORED_CASE[part](form.map((each) => `(?:${each})`).join('')), 'u');
  return (value) => test.test(value);
}

/** The name that was probably meant: one with the same start, or one or two typos away; undefined if none is close. */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  const typos = Math.min(2, Math.floor(written.length / 3));
  const close = names
    .filter((name) => Math.abs(name.length - written.length) <= typos)
    .map((name) => ({ name, distance: editDistance(written, name) }))
    .filter(({ distance }) => distance <= typos)
    .toSorted((a, b) => a.distance - b.distance);
  return close[0]?.name ?? (written.length >= 3 ? names.find((name) => name.startsWith(written)) : undefined);
}

/** How many characters must be inserted, deleted or replaced to turn one text into the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const changed = at(row, column - 1) + (to[column - 1] === character ? 0 : 1);
      next.push(Math.min(changed, at(row, column) + 1, at(next, column - 1) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY;

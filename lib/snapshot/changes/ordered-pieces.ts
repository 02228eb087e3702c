import type { Part } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { compareRecordKeys } from './record-key.ts';
import type { KeyRange } from './side-by-side.ts';

/** The parts of two runs that may hold records in a range of keys. */
export type OrderedPiece = {
  readonly before: readonly Part[];
  readonly after: readonly Part[];
  readonly range: KeyRange;
};

/**
 * Divides the comparison of two runs in key order into ranges of keys, each over parts of about `pieceBytes`. Parts that
 * are in both runs with the same sha256 are in no piece: their records did not change. Undefined if the keys in the
 * lists of parts are not in order, or not known.
 */
export function orderedPieces(
  source: Source,
  before: readonly Part[],
  after: readonly Part[],
  pieceBytes: number,
): readonly OrderedPiece[] | undefined {
  const compare = compareRecordKeys(sourceDefinitions[source].records.key);
  if (!areOrdered(before, compare) || !areOrdered(after, compare)) return undefined;
  const [old, now] = [without(before, after), without(after, before)];
  const pieces: OrderedPiece[] = [];
  let from: string | undefined;
  for (const to of borders([...old, ...now], compare, pieceBytes)) {
    const range = { after: from, to };
    const inRange = (part: Part) =>
      (from === undefined || compare(part.lastKey, from) > 0) &&
      (to === undefined || compare(part.firstKey, to) <= 0);
    pieces.push({ before: old.filter(inRange), after: now.filter(inRange), range });
    from = to;
  }
  return pieces;
}

type CompareKeys = (a: string, b: string) => number;

function areOrdered(parts: readonly Part[], compare: CompareKeys): boolean {
  return parts.every(({ firstKey, lastKey }, at) => {
    if (firstKey === '' || lastKey === '' || compare(firstKey, lastKey) > 0) return false;
    const previous = parts[at - 1];
    return previous === undefined || compare(previous.lastKey, firstKey) < 0;
  });
}

function without(parts: readonly Part[], others: readonly Part[]): readonly Part[] {
  const known = new Set(others.map(({ sha256 }) => sha256));
  return parts.filter(({ sha256 }) => !known.has(sha256));
}

/** The last key of each piece; undefined for the last piece, which has no end. None without parts. */
function borders(parts: readonly Part[], compare: CompareKeys, pieceBytes: number): (string | undefined)[] {
  const sorted = [...parts].sort((a, b) => compare(a.lastKey, b.lastKey));
  const found: (string | undefined)[] = [];
  let bytes = 0;
  for (const [at, { bytes: size, lastKey }] of sorted.entries()) {
    bytes += size;
    const next = sorted[at + 1];
    if (next === undefined) found.push(undefined);
    else if (bytes >= pieceBytes && compare(lastKey, next.lastKey) < 0) {
      found.push(lastKey);
      bytes = 0;
    }
  }
  return found;
}

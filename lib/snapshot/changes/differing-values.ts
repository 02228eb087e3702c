import { skipValue } from '../page/json-bytes.ts';
import type { ValuePlaces } from './line-layout.ts';
import type { Line } from './line-reader.ts';

/** Values that differ between two lines of the same layout: their positions, and where they are in the later line. */
export type DifferingValues = {
  count: number;
  readonly positions: number[];
  readonly starts: number[];
  readonly ends: number[];
};

export const noDifferingValues = (): DifferingValues => ({ count: 0, positions: [], starts: [], ends: [] });

/** Members of a record are values within one object. */
const DEPTH = 1;

/**
 * Finds the values of `after` whose bytes differ from those of `before`, which has `count` values at `places`; false if
 * anything else differs. Only those values are read as JSON: if the rest has the same bytes, then `after` has the same
 * members in the same order, and is valid because `before` is. Throws `SyntaxError`.
 */
export function findDifferingValues(
  before: Line,
  places: ValuePlaces,
  count: number,
  after: Line,
  into: DifferingValues,
): boolean {
  into.count = 0;
  /** Up to here both lines are understood. */
  let [at, nowAt] = [before.start, after.start];
  for (let position = 0; position < count; position += 1) {
    const [start, end] = [places.starts[position] ?? 0, places.ends[position] ?? 0];
    // With the byte after it, since the other value may be longer.
    if (isSame(before, at, end + 1, after, nowAt)) {
      nowAt += end - at;
      at = end;
      continue;
    }
    if (!isSame(before, at, start, after, nowAt)) return false;
    const nowStart = nowAt + start - at;
    nowAt = skipValue(after.json, nowStart, DEPTH);
    at = end;
    into.positions[into.count] = position;
    into.starts[into.count] = nowStart;
    into.ends[into.count] = nowAt;
    into.count += 1;
  }
  return before.end - at === after.end - nowAt && isSame(before, at, before.end, after, nowAt);
}

/** True if the lines have the same bytes. */
export const isSameText = (a: Line, b: Line): boolean =>
  a.end - a.start === b.end - b.start && isSame(a, a.start, a.end, b, b.start);

/** Up to here a loop is faster than a call out of JavaScript. */
const LOOPED_BYTES = 64;

/** True if the bytes of `a` from `start` up to `end` are those of `b` from `other` on. */
function isSame(a: Line, start: number, end: number, b: Line, other: number): boolean {
  const [left, right] = [a.json.bytes, b.json.bytes];
  const length = end - start;
  if (length > LOOPED_BYTES) {
    // The line feed after the line is in these bytes too.
    if (other + length > b.end + 1) return false;
    return left.compare(right, other, other + length, start, end) === 0;
  }
  for (let at = 0; at < length; at += 1) if (left[start + at] !== right[other + at]) return false;
  return true;
}

import type { Part } from '../manifest.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { Comparison } from './comparison.ts';
import type { RunSide } from './comparison-events.ts';
import { createLineKey, createQuickKey } from './line-key.ts';
import { type Line, readLines } from './line-reader.ts';
import { compareRecordKeys } from './record-key.ts';

/** A run is not in the order of its keys; the message names the key. */
export class KeyOrderError extends Error {
  override readonly name = 'KeyOrderError';
}

/** The keys above `after`, up to `to`. Default: from the first, to the last. */
export type KeyRange = { readonly after?: string | undefined; readonly to?: string | undefined };

/** One run of a merge: its lines in a range of keys, in order. */
type OrderedSide = {
  /** The current line; the same object each time. */
  readonly line: Line;
  /** Moves to the next line in the range: false at its end. */
  next(): boolean | Promise<boolean>;
  /** The key of the current line. Throws `KeyOrderError` if it is below the one before it. */
  key(): string;
  /** The same, read only as far as its line's usual layout needs: for a line whose fields do not matter. */
  quickKey(): string;
  /** Takes the key of the current line, which was found with that of the other run, and checks its order too. */
  keyFrom(other: string): string;
  /** See `LineReader`. */
  release(): void;
  close(): Promise<void>;
};

/**
 * Opens a run of a comparison before its first line in the range. Where a part lies in the range as a whole, by the keys
 * in its entry, none of its lines are read for that: only a run that is not in order could have others there.
 */
export function openOrderedSide(comparison: Comparison, side: RunSide, range: KeyRange): OrderedSide {
  const { store, source, signal } = comparison;
  const parts = comparison[side]?.parts ?? [];
  const rule = sourceDefinitions[source].records.key;
  const compare = compareRecordKeys(rule);
  const [readKey, readQuickKey] = [createLineKey(rule), createQuickKey(rule)];
  const inside = keysOfPartsInside(parts, range, compare);
  const reader = readLines({ store, parts, signal });
  let [last, known]: (string | undefined)[] = [undefined, undefined];
  let isBefore = range.after !== undefined;

  function take(key: string): string {
    if (last !== undefined && key !== last && compare(last, key) > 0)
      throw new KeyOrderError(`${key} follows ${last} in the ${side} run`);
    known = key;
    last = key;
    return key;
  }

  const key = () => known ?? take(readKey(reader));

  /** True if the current line is in the range; undefined if it comes before it. */
  function isInside(): boolean | undefined {
    if (inside.has(reader.partKey() ?? '')) return true;
    if (isBefore && range.after !== undefined) {
      if (compare(key(), range.after) <= 0) return undefined;
      isBefore = false;
    }
    return range.to === undefined || compare(key(), range.to) <= 0;
  }

  async function advance(first: boolean | Promise<boolean>): Promise<boolean> {
    for (let found = first; ; found = reader.next()) {
      if (!(await found)) return false;
      known = undefined;
      const inside = isInside();
      if (inside !== undefined) return inside;
    }
  }

  return {
    line: reader.line,
    next() {
      const found = reader.next();
      if (found !== true) return advance(found);
      known = undefined;
      return isInside() ?? advance(reader.next());
    },
    key,
    quickKey: () => known ?? take(readQuickKey(reader)),
    keyFrom: (other) => known ?? take(other),
    release: reader.release,
    close: reader.close,
  };
}

/** The object keys of the parts whose records are all in the range; of an entry without record keys, that is unknown. */
function keysOfPartsInside(
  parts: readonly Part[],
  { after, to }: KeyRange,
  compare: (a: string, b: string) => number,
): ReadonlySet<string> {
  const inside = parts.filter(
    ({ firstKey, lastKey }) =>
      (after === undefined || (firstKey !== '' && compare(firstKey, after) > 0)) &&
      (to === undefined || (lastKey !== '' && compare(lastKey, to) <= 0)),
  );
  return new Set(inside.map(({ key }) => key));
}

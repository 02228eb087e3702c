import { createNumbersByText, shortened } from '../../../base/index.ts';

/** Rows whose id an earlier row has. */
export type RepeatedIds = {
  /** How many. */
  readonly rows: number;
  /** The first of them, each with the line on which its id came first, and its own. */
  readonly first: readonly { readonly id: string; readonly lines: readonly [number, number] }[];
  /** Set if there are more ids than were compared: how many were. */
  readonly compared?: number | undefined;
};

/** How many repeated ids are named, and the most characters of one. */
const MOST_NAMED = 20;
const LONGEST_NAMED = 100;

/** The most ids that are compared: they take up to 100 MB. */
const MOST_IDS = 2_000_000;

export type IdComparison = {
  /** Returns the line on which the id came first; undefined if it is new. */
  readonly add: (id: string, line: number) => number | undefined;
  readonly found: () => RepeatedIds;
};

/** Compares ids by their hashes. At most `mostIds` are held. */
export function compareIds(mostIds = MOST_IDS): IdComparison {
  const lines = createNumbersByText();
  let rows = 0;
  let isFull = false;
  const first: RepeatedIds['first'][number][] = [];
  return {
    add(id, line) {
      const earlier = lines.get(id);
      if (earlier !== undefined) {
        rows += 1;
        if (first.length < MOST_NAMED)
          first.push({ id: shortened(id.toWellFormed(), LONGEST_NAMED), lines: [earlier, line] });
        return earlier;
      }
      if (lines.count() === mostIds) isFull = true;
      else lines.set(id, line);
      return undefined;
    },
    found: () => ({ rows, first, ...(isFull ? { compared: mostIds } : {}) }),
  };
}

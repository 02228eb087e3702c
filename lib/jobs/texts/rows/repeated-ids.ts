import { createNumbersByText, shortened } from '../../../base/index.ts';

export type RepeatedIds = {
  readonly rows: number;
  /** The first of them, each with the line on which its id came first, and its own. */
  readonly first: readonly { readonly id: string; readonly lines: readonly [number, number] }[];
};

const MOST_NAMED = 20;
const LONGEST_NAMED = 100;

/** The most ids that are held: they take up to 100 MB. Those after them are compared with these only. */
const MOST_IDS = 2_000_000;

export function compareIds(mostIds = MOST_IDS) {
  const lines = createNumbersByText();
  let rows = 0;
  const first: RepeatedIds['first'][number][] = [];
  return {
    /** Returns the line on which the id came first; undefined if it is new. */
    add(id: string, line: number): number | undefined {
      const earlier = lines.get(id);
      if (earlier !== undefined) {
        rows += 1;
        if (first.length < MOST_NAMED)
          first.push({ id: shortened(id.toWellFormed(), LONGEST_NAMED), lines: [earlier, line] });
        return earlier;
      }
      if (lines.count() < mostIds) lines.set(id, line);
      return undefined;
    },
    found: (): RepeatedIds => ({ rows, first }),
  };
}

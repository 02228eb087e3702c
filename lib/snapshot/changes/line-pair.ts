import type { RecordRules } from '../sources/source-definition.ts';
import { type ComparedLayout, comparedLayout, namesOfChanged } from './differing-fields.ts';
import { type DifferingValues, findDifferingValues, noDifferingValues } from './differing-values.ts';
import { createLayoutReader, noPlaces } from './line-layout.ts';
import type { Line } from './line-reader.ts';
import { type KeyPlaces, keyAt, keyPlaces } from './record-layout.ts';

/** Two lines of one record: its key, and the top-level fields that differ, sorted. */
export type Pair = { key: string; fields: readonly string[] };

export const noPair = (): Pair => ({ key: '', fields: [] });

type PairLayout = ComparedLayout & {
  readonly key: KeyPlaces;
  /** The members that a key may depend on. */
  readonly isOfKey: readonly boolean[];
};

/**
 * Makes a function that reads a line of each run together, and replaces what `into` held; false if they are not certain
 * to be the same record, or have to be read one by one because they are unusual. Only the line before is read as JSON
 * to its end; of the line after, only the values that differ.
 */
export function createPairReader(rules: RecordRules): (before: Line, after: Line, into: Pair) => boolean {
  const { key: rule } = rules;
  const ofKey: readonly string[] = [...(rule.owner ?? []), rule.id];
  const readLayout = createLayoutReader(
    (names): PairLayout => ({
      ...comparedLayout(rules, names),
      key: keyPlaces(rule, names),
      isOfKey: names.map((name) => ofKey.includes(name)),
    }),
  );
  const places = noPlaces();
  const differing = noDifferingValues();
  return (before, after, into) => {
    try {
      const layout = readLayout(before, places);
      if (!layout.areUnique) return false;
      if (!findDifferingValues(before, places, layout.names.length, after, differing)) return false;
      if (isAnyOfKey(layout, differing)) return false;
      const key = keyAt(rule, before, places, layout.key);
      if (key === undefined) return false;
      into.key = key;
      into.fields = namesOfChanged(before, places, layout, after, differing);
      return true;
    } catch {
      // Not JSON, or nested deeper than bytes are followed.
      return false;
    }
  };
}

function isAnyOfKey({ isOfKey }: PairLayout, { positions, count }: DifferingValues): boolean {
  for (let index = 0; index < count; index += 1) if (isOfKey[positions[index] ?? 0]) return true;
  return false;
}

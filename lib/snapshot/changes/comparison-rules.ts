import type { Source } from '../keys.ts';

/** How the records of a source are compared and told to people. */
export type ComparisonRules = {
  /** Top-level fields that differ from one answer to the next although nothing changed: never compared. */
  readonly volatile: readonly string[];
  /** Top-level arrays whose order and repeats mean nothing: compared as sets. */
  readonly sets: readonly string[];
  /** True if a run is expected in the order of keys. It is checked all the same. */
  readonly inKeyOrder: boolean;
  /** The field that people know a record by. */
  readonly label: string;
};

/** The rules of each source. */
export const comparisonRules = {
  calculations: { volatile: [], sets: ['functions'], inKeyOrder: true, label: 'name' },
  // Signed anew for every answer; and a cursor goes through files in no order that it tells.
  files: { volatile: ['downloadUrl'], sets: [], inKeyOrder: false, label: 'path' },
  cards: { volatile: [], sets: [], inKeyOrder: true, label: 'title' },
  'data-files': { volatile: [], sets: [], inKeyOrder: true, label: 'name' },
} as const satisfies Record<Source, ComparisonRules>;

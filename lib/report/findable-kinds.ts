import type { Source } from '../snapshot/sources/sources.ts';

/** The kinds of things that `whereUsed` finds, and the sources that know of each. */
export const findableKinds = {
  dataset: ['calculations', 'cards'],
  calculation: ['calculations', 'cards'],
  card: ['calculations', 'cards'],
  column: ['calculations', 'cards'],
  fileset: ['files'],
  file: ['files'],
  'data-file': ['data-files'],
} as const satisfies Readonly<Record<string, readonly Source[]>>;

export type FindableKind = keyof typeof findableKinds;

import { type Source, sourceDefinitions, sources } from '../snapshot/sources/index.ts';

/** The kinds of things that `whereUsed` can find, since the records of a source name them. */
export type FindableKind = (typeof sourceDefinitions)[Source]['names'][number];

export const findableKinds: readonly FindableKind[] = [
  ...new Set(sources.flatMap((source) => sourceDefinitions[source].names)),
];

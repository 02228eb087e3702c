import { type Source, sourceDefinitions, sources } from '../snapshot/sources/index.ts';

/** The kinds of things that `whereUsed` can find: those that the records of some source name. */
export type FindableKind = (typeof sourceDefinitions)[Source]['names'][number];

export const findableKinds: readonly FindableKind[] = [
  ...new Set(sources.flatMap((source) => sourceDefinitions[source].names)),
];

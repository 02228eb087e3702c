import { type Source, sourceDefinitions, sources } from '../snapshot/sources/index.ts';

/** A kind of thing that `whereUsed` can find: the records of some source refer to things of this kind. */
export type FindableKind = (typeof sourceDefinitions)[Source]['names'][number];

/** All these kinds, each once, in the order of the sources. */
export const findableKinds: readonly FindableKind[] = [
  ...new Set(sources.flatMap((source) => sourceDefinitions[source].names)),
];

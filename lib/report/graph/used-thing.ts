import type { Relation } from '../../model/rules/index.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { Kind } from './graph.ts';

/** The kinds of things that `whereUsed` finds, and the sources that know of each. */
export const findableKinds = {
  dataset: ['calculations', 'cards'],
  calculation: ['calculations', 'cards'],
  card: ['calculations', 'cards'],
  fileset: ['files'],
  file: ['files'],
  'data-file': ['data-files'],
} as const satisfies Readonly<Record<string, readonly Source[]>>;

export type FindableKind = keyof typeof findableKinds;

/** What a snapshot says of a thing; null where it says nothing. Texts are the platform's, of any length. */
export type Description = {
  readonly name: string | null;
  /** Of a calculation its status, of a card its type, of a file its file type, of a data file its scan state. */
  readonly type: string | null;
  readonly owner: string | null;
};

/** How a dependent was reached: `RELATION` the thing named, over a link that says `valid` if that is not VALID. */
export type Way = {
  readonly kind: FindableKind;
  readonly id: string;
  readonly relation: Relation | 'lies in';
  readonly valid: string | null;
};

/** Something that would break if the thing were deleted. */
export type Dependent = Description & {
  /** How many uses away: 1 uses the thing itself. */
  readonly hop: number;
  readonly kind: Kind | 'file';
  readonly id: string;
  /** The first of `waysTotal`, all from one hop nearer. */
  readonly ways: readonly Way[];
  readonly waysTotal: number;
};

/** A thing with the id, and what depends on it. */
export type UsedThing = Description & {
  readonly kind: FindableKind;
  readonly id: string;
  /** False if no record of it was found, and only links name it. No snapshot has records of datasets and FileSets. */
  readonly inSnapshot: boolean;
  /** How many records of other things name it, and how many of these do so by a link that is not VALID. */
  readonly links: number;
  readonly broken: number;
  /** What a file or directory lies in. */
  readonly fileset: string | null;
  /** How many things depend on it, by how many uses away they are, and by kind. */
  readonly total: number;
  readonly hops: readonly number[];
  readonly kinds: Readonly<Record<string, number>>;
  /** True if more of them are further away than `hops` allowed. */
  readonly isCut: boolean;
  /** Nearest first: those that fit into the limit. */
  readonly dependents: readonly Dependent[];
};

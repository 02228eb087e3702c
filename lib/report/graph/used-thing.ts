import type { Description, ModelColumns } from '../../model/index.ts';
import type { Relation } from '../../model/rules.ts';
import type { Source } from '../../snapshot/sources/sources.ts';

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

export const notDescribed: Description = { name: null, type: null, owner: null };

/** What the records of each source are. */
export const kindOf = {
  calculations: 'calculation',
  cards: 'card',
  files: 'file',
  'data-files': 'data-file',
} as const satisfies Readonly<Record<Source, FindableKind>>;

/** What is searched for. */
export type Search = {
  readonly columns: ModelColumns;
  readonly id: string;
  readonly kind: FindableKind | undefined;
  readonly hops: number;
  /** The most dependents to list of each thing. */
  readonly most: number;
};

/** A thing. Of a calculation its name, of a card its title. */
export type Named = { readonly kind: FindableKind; readonly id: string; readonly name: string | null };

/** How a dependent was reached: `RELATION` the thing named, over a link that says `valid` if that is not VALID. */
export type Way = Named & { readonly relation: Relation | 'lies in'; readonly valid: string | null };

/** Something that would break if the thing were deleted. */
export type Dependent = Description &
  Named & {
    /** How many uses away: 1 uses the thing itself. */
    readonly hop: number;
    /** The first of `waysTotal`, all from one hop nearer. */
    readonly ways: readonly Way[];
    readonly waysTotal: number;
  };

/** A thing with the id, and what depends on it. */
export type UsedThing = Description &
  Named & {
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

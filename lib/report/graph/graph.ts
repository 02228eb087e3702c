import type { Kind as ThingKind } from '../../model/rules/index.ts';

/** The kinds of things that use one another. */
const kinds = ['dataset', 'calculation', 'card'] as const;

export type Kind = (typeof kinds)[number];

/** The kind of a thing, if it is one of these. */
export const kindOf = (kind: ThingKind): Kind | undefined => kinds.find((each) => each === kind);

/**
 * Which thing uses which, as JSON. Nodes are numbered: the datasets of `DatasetFacts.list`, then the calculations of
 * `CalculationFacts.list`, then the cards of `CardFacts.list`, then `others`. Edge `i` says that node `user[i]` uses node
 * `used[i]`, so it breaks if that is deleted.
 */
export type Graph = {
  readonly datasets: number;
  readonly calculations: number;
  readonly cards: number;
  /** Things that links name and no snapshot holds: what a broken reference names, or what the token may not see. */
  readonly others: readonly { readonly kind: Kind; readonly id: string }[];
  readonly user: readonly number[];
  readonly used: readonly number[];
  /** Positions in `relations` of the model. */
  readonly relation: readonly number[];
  /** Edges whose link is not VALID: what it is instead. */
  readonly invalid: readonly (readonly [edge: number, valid: string])[];
};

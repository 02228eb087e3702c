/** The kinds of things that use one another. */
export const kinds = ['dataset', 'calculation', 'card'] as const;

export type Kind = (typeof kinds)[number];

/**
 * How one thing uses another, read as USER RELATION USED: a calculation is saved on a dataset, or used on it by a card
 * that it is saved on; a calculation refers to another; a card uses a calculation; a card is built on a dataset; the card
 * of a drill drills from the root card.
 */
export const relations = ['saved on', 'used on', 'refers to', 'uses', 'built on', 'drills from'] as const;

export type Relation = (typeof relations)[number];

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
  /** Positions in `relations`. */
  readonly relation: readonly number[];
  /** Edges whose link is not VALID: what it is instead. */
  readonly invalid: readonly (readonly [edge: number, valid: string])[];
};

/** A calculation, or a card that shows some, and what goes into it. */
export type Step = {
  readonly kind: 'calculation' | 'card';
  readonly id: string;
  /** Null where no record has one. */
  readonly name: string | null;
  /** Ids of users. */
  readonly owners: readonly string[];
  /** The datasets and calculations that it uses, sorted. */
  readonly inputs: readonly Input[];
  /** The columns that its formula reads, sorted; none if its text is unknown. */
  readonly columns: readonly { readonly dataset: string; readonly column: string }[];
  /** The runs that it is known by, and when the last of them began: ISO text. */
  readonly run: string;
  readonly at: string;
};

export type Input = { readonly kind: 'dataset' | 'calculation'; readonly id: string };

/** What is known besides the steps. */
export type LineageContext = {
  /** The platform's host. */
  readonly host: string;
  readonly datasets: readonly string[];
  readonly owners: readonly { readonly id: string; readonly name: string | null }[];
};

/** How a catalog reads lineage: what comes before the steps, and the entries of a step. */
export type Catalog = {
  readonly before: (context: LineageContext) => Iterable<object>;
  readonly entries: (step: Step, context: LineageContext) => Iterable<object>;
  /** True if all of it is one JSON array, and not an entry a line. */
  readonly isArray: boolean;
};

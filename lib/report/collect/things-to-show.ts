import type { Model, ModelColumns } from '../../model/index.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { ListLimits } from './list-limits.ts';

/** The model, the records that it is of, and how many of them to list. */
export type ThingsToShow = {
  readonly model: Model;
  readonly columns: ModelColumns;
  /** How many records a source has, as its manifests say. */
  readonly recordsOf: (source: Source) => number;
  readonly limits: ListLimits;
  readonly signal: AbortSignal;
};

/** What is shown, and the nodes of what is listed, in the order of the list. */
export type Shown<F> = { readonly facts: F; readonly nodes: readonly number[] };

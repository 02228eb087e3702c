import type { Store } from '../../store/store.ts';
import type { DuckDb } from './load-duckdb.ts';
import type { LocalCopies } from './local-copies.ts';

/** What the tables of one query work with. */
export type Session = {
  readonly store: Store;
  readonly duckDb: DuckDb;
  readonly copies: LocalCopies;
  /** For files that only this query needs. */
  readonly folder: string;
  /** Reports something that is missing or damaged and was left out, in words. */
  readonly report: (fault: string) => void;
  /** Aborted when the query is to stop. */
  readonly signal: AbortSignal;
};

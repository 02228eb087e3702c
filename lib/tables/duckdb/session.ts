import type { Store } from '../../store/index.ts';
import type { LocalCopies } from './local-copies.ts';

/** What the tables of one query work with. */
export type Session = {
  readonly store: Store;
  readonly copies: LocalCopies;
  /** Reports something that is missing or damaged and was left out, in words. */
  readonly report: (fault: string) => void;
  /** Reports something that is damaged but was found elsewhere, in words. */
  readonly note: (words: string) => void;
  /** True if files that are read in place are checked as a whole before. */
  readonly verifies: boolean;
  /** Aborted when the query is to stop. */
  readonly signal: AbortSignal;
};

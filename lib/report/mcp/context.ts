import type { Ledger } from '../../jobs/ledger/ledger.ts';
import type { Store } from '../../store/index.ts';
import type { Tables } from '../../tables/duckdb/open-tables.ts';

/** What the tools work with. Nothing of it sends a request to the platform. */
export type McpContext = {
  /** The store that is set. Throws what opening it throws, at each call anew. */
  readonly store: () => Promise<Store>;
  /** SQL over it. Throws `PeerMissingError`. */
  readonly tables: () => Promise<Tables>;
  /** The ledger, if a table is set. */
  readonly ledger: () => Promise<Pick<Ledger, 'list' | 'read'> | undefined>;
  /** Puts jobs on the queue. Absent: the server only reads. */
  readonly submission?: Submission | undefined;
  /** What a person can do about an error, where its message does not say so. */
  readonly adviceOn: (error: unknown) => string | undefined;
  /** Removes from a text what must not be shown: tokens and passwords of the settings. */
  readonly hide: (text: string) => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** How jobs come onto the queue. */
export type Submission = {
  /**
   * The jobs of a text with one job a line, each with its id, or everything that is wrong with them. Throws what it lacks to
   * send anything, such as a queue that is not set.
   */
  readonly check: (lines: string) => Promise<readonly CheckedJob[] | { readonly faults: readonly string[] }>;
  /** `error` is undefined if all are certainly on the queue. */
  readonly send: (jobs: readonly CheckedJob[], signal: AbortSignal) => Promise<SentJobs>;
  /** Requests a second that may leave now; undefined where no platform is set. */
  readonly rate: () => Promise<{ readonly rate: number; readonly isPaused: boolean } | undefined>;
};

export type CheckedJob = { readonly id: string; readonly text: string };

export type SentJobs = {
  readonly ids: readonly string[];
  readonly notSent: readonly string[];
  readonly error: unknown;
};

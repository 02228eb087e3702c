import * as z from 'zod/mini';
import type { GateName } from './gate-names.ts';
import type { RecordBatch } from './page/record-batch.ts';

/**
 * What a step of a scan brought, and where the scan stands after it. A position is plain JSON: a scan that is begun
 * from it goes on as if it had never stopped, with everything that its outcome tells.
 */
export type ScanStep<Position> = {
  /** New records, in the order of the scan; may be none. `batchOf` makes one of records that were parsed. */
  readonly batch: RecordBatch;
  readonly position: Position;
  /** How many records there are in all, as far as the platform tells; a hint. */
  readonly total: number | null;
};

/** Totals as a scan stores them in its position. */
export const totalsSchema = z.object({ start: z.nullable(z.number()), end: z.nullable(z.number()) });

/** What a scan knows at its end of how complete it is. */
export type ScanOutcome = {
  /** True if every record that existed throughout is there exactly once, by a proof and not by hope. */
  readonly proved: boolean;
  /** Totals that the platform told first and last; hints. */
  readonly totals: { readonly start: number | null; readonly end: number | null };
  /** What the records are in the order of: `id`, `created`, `cursor`, `ids`, or `none`. */
  readonly order: string;
  /** Ids that answered 404 or 403, in the order of the ids. */
  readonly missing: readonly { readonly id: string; readonly status: number }[];
  /** Gates that the scan itself knows to refuse the run, such as `degraded`. */
  readonly refused: readonly GateName[];
};

/** How a scan is begun. */
export type ScanStart<Position> = {
  /** A position told before, or undefined for the beginning. */
  readonly from: Position | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes all that was yielded so far durable, with the last position, and answers the keys of every record of the
   * run, read back from its parts: of those, too, that earlier processes took. The set is the caller's, and memory
   * holds every key: it is for a scan that nothing else keeps from taking a record twice. Called within a step, and
   * not again before it has answered. Throws `StoredObjectError` and `StoreError`.
   */
  readonly takenKeys: () => Promise<Set<string>>;
};

/** A way to read all records of a source. */
export type Scan<Position> = (
  start: ScanStart<Position>,
) => AsyncGenerator<ScanStep<Position>, ScanOutcome, undefined>;

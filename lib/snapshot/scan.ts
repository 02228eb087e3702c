import * as z from 'zod/mini';
import type { GateName } from './gate-names.ts';
import type { RecordBatch } from './page/record-batch.ts';

/**
 * What one step of a scan read, and where the scan is after it. A position is plain JSON: a scan started from it
 * continues as if it had never stopped, and its outcome is complete.
 */
export type ScanStep<Position> = {
  /** New records, in the order of the scan; may be empty. `batchOf` makes a batch of parsed records. */
  readonly batch: RecordBatch;
  readonly position: Position;
  /** How many records there are in total, if the platform reports it; a hint. */
  readonly total: number | null;
};

/** Totals as a scan stores them in its position. */
export const totalsSchema = z.object({ start: z.nullable(z.number()), end: z.nullable(z.number()) });

/** What a scan knows at its end about how complete it is. */
export type ScanOutcome = {
  /** True if it is proved, not just hoped, that every record that existed throughout is there exactly once. */
  readonly proved: boolean;
  /** The first and the last total that the platform reported; hints. */
  readonly totals: { readonly start: number | null; readonly end: number | null };
  /** What the records are ordered by: `id`, `created`, `cursor`, `ids`, or `none`. */
  readonly order: string;
  /** Ids for which the platform responded 404 or 403, in the order of the ids. */
  readonly missing: readonly { readonly id: string; readonly status: number }[];
  /** Gates that refuse the run because of what the scan itself found, such as `degraded`. */
  readonly refused: readonly GateName[];
};

/** How a scan is started. */
export type ScanStart<Position> = {
  /** A position from an earlier step, or undefined for the beginning. */
  readonly from: Position | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes everything yielded so far durable, with the last position, and returns the keys of all records of the run,
   * including those that earlier processes took: it reads them back from the parts. The caller owns the set, and
   * memory holds every key, so this is only for a scan that cannot avoid taking a record twice in any other way. Call
   * it within a step, and not again before it has returned. Throws `StoredObjectError` and `StoreError`.
   */
  readonly takenKeys: () => Promise<Set<string>>;
};

/** A way to read all records of a source. */
export type Scan<Position> = (
  start: ScanStart<Position>,
) => AsyncGenerator<ScanStep<Position>, ScanOutcome, undefined>;

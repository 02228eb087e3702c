import * as z from 'zod/mini';
import type { RecordBatch } from './page/record-fields.ts';

/**
 * What one step of a scan read. A position is plain JSON: a scan that starts from it continues as if it had
 * never stopped.
 */
export type ScanStep<Position> = {
  /** New records, in the order of the scan; may be empty. */
  readonly batch: RecordBatch;
  readonly position: Position;
  /**
   * Requested ids that could not be read. A run has each of them in only one step: a scan never returns to an
   * earlier id.
   */
  readonly missing?: readonly MissingId[] | undefined;
  /** The total number of records, if the platform reports it; a hint. */
  readonly total: number | null;
  /** How much of the scan is done, from 0 to 1, if the number of records does not show it; a hint. */
  readonly share?: number | undefined;
  /**
   * Set by a scan that may read something again. `begins`: this step's records begin a new segment. `restarts`: all
   * records since the segment began are dropped, and this step has none. The first segment begins with the run.
   */
  readonly segment?: 'begins' | 'restarts' | undefined;
};

export const totalsSchema = z.object({ start: z.nullable(z.number()), end: z.nullable(z.number()) });

/**
 * `proved`: the run certainly has every record that existed throughout the scan, exactly once. `best-effort`:
 * that is not certain.
 */
export const consistencies = ['proved', 'best-effort'] as const;

export const assumptionNames = [
  'current-responses',
  'fixed-creation-times',
  'kept-order',
  'not-missed-twice',
] as const;

/**
 * What the platform must guarantee for the consistency to hold, since no response can show it:
 * - `current-responses`: a response contains all records that exist when it is made; no record is missing
 *   because a replica lags behind, or because the record is being updated
 * - `fixed-creation-times`: a record's `created` never changes, and a new record gets the latest one
 * - `kept-order`: the platform pages in the order that was requested, by creation and then id, to the end of
 *   the list
 * - `not-missed-twice`: no record that existed throughout was missed by two reads, one after the other, that
 *   found the same records
 */
type Assumption = (typeof assumptionNames)[number];

/** How complete a scan is, and what the platform must guarantee for that (nothing for a best-effort scan). */
export type Completeness = Pick<ScanOutcome, 'consistency' | 'assumes'>;

export const UNVERIFIED: Completeness = { consistency: 'best-effort', assumes: [] };
export const verifiedIf = (isProved: boolean, assumes: readonly Assumption[]): Completeness =>
  isProved ? { consistency: 'proved', assumes } : UNVERIFIED;

/**
 * A requested id that could not be read, and the HTTP status of the platform's response; 0 if no response was complete.
 */
export const missingIdSchema = z.object({ id: z.string(), status: z.number() });
export type MissingId = Readonly<z.infer<typeof missingIdSchema>>;

/** Why a finished run is not published. */
export const gateNames = [
  'empty',
  'shrunk',
  'degraded',
  'type',
  'selection',
  'platform',
  'unproved',
  'incomplete',
  'future',
  'broken',
] as const;

export type GateName = (typeof gateNames)[number];

/** What a scan knows at its end about how complete it is. */
export const outcomeSchema = z.object({
  consistency: z.enum(consistencies),
  assumes: z.readonly(z.array(z.enum(assumptionNames))),
  /** The first and the last total that the platform reported; hints. */
  totals: totalsSchema,
  /** The number of times the list was read. For several lists: the maximum. Default 1. */
  passes: z.optional(z.number()),
  /** The number of pages that kept reporting that they may lack rows. Default 0. */
  degradedPages: z.optional(z.number()),
  /** What the records are ordered by: `id`, `created`, `ids`, or `none`. */
  order: z.string(),
  /** Gates that refuse the run because of what the scan itself found, such as `degraded`. */
  refused: z.readonly(z.array(z.enum(gateNames))),
});

export type ScanOutcome = Readonly<z.infer<typeof outcomeSchema>>;

export type ScanStart<Position> = {
  /** The position to start from, as an earlier step returned it; undefined for the beginning. */
  readonly from: Position | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes everything durable that was yielded so far, and reads back the keys of the current segment, in
   * batches. For scans that cannot recognize a repeated record otherwise. Read all of them within one step.
   * Throws `StoredObjectError`.
   */
  readonly readBackKeys: () => AsyncIterable<readonly string[]>;
};

export type Scan<Position> = (
  start: ScanStart<Position>,
) => AsyncGenerator<ScanStep<Position>, ScanOutcome, undefined>;

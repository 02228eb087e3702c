import * as z from 'zod/mini';
import type { RecordBatch } from './page/record-fields.ts';

/**
 * What one step of a scan read. A position is plain JSON; a scan that starts from it continues as if it had never
 * stopped.
 */
export type ScanStep<Position> = {
  /** New records, in the order of the scan; may be empty. */
  readonly batch: RecordBatch;
  readonly position: Position;
  /**
   * Requested ids that could not be read. Only one step of a run has a given id, since a scan never returns to an
   * earlier one.
   */
  readonly missing?: readonly MissingId[] | undefined;
  /** The total number of records as the platform reports it, null if it does not. It may be wrong. */
  readonly total: number | null;
  /** An estimate of how much of the scan is done, from 0 to 1, for a scan whose `total` does not show it. */
  readonly share?: number | undefined;
  /**
   * Set by a scan that may read a part of its list again. A segment is the run of records that would then be dropped.
   * `begins`: this step's records begin a new segment. `restarts`: all records of the segment are dropped, and this
   * step has none. The first segment begins with the first record.
   */
  readonly segment?: 'begins' | 'restarts' | undefined;
};

/** Schema of the first and the last total that the platform reported; null if it reported none. */
export const totalsSchema = z.object({ start: z.nullable(z.number()), end: z.nullable(z.number()) });

/**
 * Whether fewer rows were read than the platform reported both at the start and at the end, so a response was not
 * current. False if one of the totals is unknown.
 */
export const isShort = (rows: number, { start, end }: z.infer<typeof totalsSchema>): boolean =>
  rows < Math.min(start ?? 0, end ?? 0);

/**
 * How certain it is that a run is complete. `proved`: it certainly has every record that existed throughout the scan,
 * exactly once. `best-effort`: that is not certain.
 */
export const consistencies = ['proved', 'best-effort'] as const;

/** What a proof takes for granted: see `Assumption`. */
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

/** Whether a scan is proved complete, and what that proof takes for granted (nothing if it is not proved). */
export type Completeness = Pick<ScanOutcome, 'consistency' | 'assumes'>;

/** The result of a scan that cannot be proved complete. */
export const UNVERIFIED: Completeness = { consistency: 'best-effort', assumes: [] };
/** `proved` on these assumptions if `isProved`, otherwise `UNVERIFIED`. */
export const verifiedIf = (isProved: boolean, assumes: readonly Assumption[]): Completeness =>
  isProved ? { consistency: 'proved', assumes } : UNVERIFIED;

/**
 * A requested id that could not be read, and the HTTP status of the platform's response; status 0 means that no
 * complete response arrived.
 */
export const missingIdSchema = z.object({ id: z.string(), status: z.number() });
export type MissingId = Readonly<z.infer<typeof missingIdSchema>>;

/** The gates: checks before publishing. The name of a gate that a run failed is the reason why it was refused. */
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

/** One of `gateNames`. */
export type GateName = (typeof gateNames)[number];

/** What a scan knows at its end: how complete it is, and what it saw. */
export const outcomeSchema = z.object({
  consistency: z.enum(consistencies),
  assumes: z.readonly(z.array(z.enum(assumptionNames))),
  /** The first and the last total that the platform reported. They may be wrong. */
  totals: totalsSchema,
  /** The number of times the list was read. For several lists: the maximum. Default 1. */
  passes: z.optional(z.number()),
  /** The number of pages that kept reporting that they may lack rows. Default 0. */
  degradedPages: z.optional(z.number()),
  /** What the records are ordered by: `id`, `created`, `ids`, or `none`. */
  order: z.string(),
  /** The gates that the run fails because of what the scan found, such as `degraded`. */
  refused: z.readonly(z.array(z.enum(gateNames))),
});

/** See `outcomeSchema`. */
export type ScanOutcome = Readonly<z.infer<typeof outcomeSchema>>;

/** Where a scan starts, and what it may use of the run. */
export type ScanStart<Position> = {
  /** The position to start from, as an earlier step returned it; undefined for the beginning. */
  readonly from: Position | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes all records durable that were yielded so far, and reads back the keys of the current segment, in batches. It
   * is for scans that cannot recognize a repeated record otherwise. Read all batches within one step. Throws
   * `StoredObjectError`.
   */
  readonly readBackKeys: () => AsyncIterable<readonly string[]>;
};

/** Reads a selection step by step. Its return value says how complete it is. */
export type Scan<Position> = (
  start: ScanStart<Position>,
) => AsyncGenerator<ScanStep<Position>, ScanOutcome, undefined>;

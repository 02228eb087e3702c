import * as z from 'zod/mini';
import type { RecordBatch } from './page/record-batch.ts';

/**
 * What one step of a scan read, and where the scan is after it. A position is plain JSON: a scan started from it
 * continues as if it had never stopped, and its outcome is complete.
 */
export type ScanStep<Position> = {
  /** New records, in the order of the scan; may be empty. */
  readonly batch: RecordBatch;
  readonly position: Position;
  /**
   * Requested ids that this step found missing: the platform responded 404 or 403. Each id is in one step of a run only,
   * and stays if the segment restarts, so a scan never goes back behind such a step. Default: none.
   */
  readonly missing?: readonly MissingId[] | undefined;
  /** How many records there are in total, if the platform reports it; a hint. */
  readonly total: number | null;
  /** The part of the scan that is done, from 0 to 1, where the number of records does not show it; a hint. */
  readonly share?: number | undefined;
  /**
   * For a scan that may read something again: `begins` means that this step's records begin a new segment, and all
   * records before them stay; `restarts` that all records since the segment began are dropped, and the step itself has
   * none. The first segment begins with the run.
   */
  readonly segment?: 'begins' | 'restarts' | undefined;
};

/** Totals as a scan stores them in its position. */
export const totalsSchema = z.object({ start: z.nullable(z.number()), end: z.nullable(z.number()) });

/** Whether it is proved that every record that existed throughout is there exactly once, or not known. */
export const consistencies = ['proved', 'best-effort'] as const;

/** The names of `Assumption`. */
export const assumptionNames = [
  'current-responses',
  'fixed-creation-times',
  'kept-order',
  'not-missed-twice',
] as const;

/**
 * What the platform must keep to for the consistency to hold, where no response can show it:
 * - `current-responses`: a response contains all records that exist when it is made; none is missing because a replica
 *   lags behind, or because it is being updated
 * - `fixed-creation-times`: a record's `created` never changes, and a new record gets the latest one
 * - `kept-order`: the platform pages in the order that was requested, by creation and then id, to the end of the list
 * - `not-missed-twice`: no record that existed throughout was missed by two reads, one after the other, that found the
 *   same records
 */
export type Assumption = (typeof assumptionNames)[number];

/** How complete a scan is, and what that assumes: nothing if nothing is claimed. */
export type Claim = Pick<ScanOutcome, 'consistency' | 'assumes'>;

/** The claim that all is there, under assumptions; or, if that is not known, that it is a best effort. */
export const provedIf = (isProved: boolean, assumes: readonly Assumption[]): Claim =>
  isProved ? { consistency: 'proved', assumes } : { consistency: 'best-effort', assumes: [] };

/** A requested id, and the status that the platform responded with: 404 or 403. */
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
  /** How often the list was read; of several lists, the most. Default 1. */
  passes: z.optional(z.number()),
  /** What the records are ordered by: `id`, `created`, `ids`, or `none`. */
  order: z.string(),
  /** Gates that refuse the run because of what the scan itself found, such as `degraded`. */
  refused: z.readonly(z.array(z.enum(gateNames))),
});

export type ScanOutcome = Readonly<z.infer<typeof outcomeSchema>>;

/** How a scan is started. */
export type ScanStart<Position> = {
  /** A position from an earlier step, or undefined for the beginning. */
  readonly from: Position | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes everything yielded so far durable, with the last position, and returns the keys of all records of the current
   * segment, including those that earlier processes took: it reads them back from the parts, a few at a time. This is
   * only for a scan that cannot recognize a repeated record in any other way. Call it within a step, and read it to its
   * end there. Throws `StoredObjectError` and `StoreError`.
   */
  readonly takenKeys: () => AsyncIterable<readonly string[]>;
};

/** A way to read all records of a source. */
export type Scan<Position> = (
  start: ScanStart<Position>,
) => AsyncGenerator<ScanStep<Position>, ScanOutcome, undefined>;

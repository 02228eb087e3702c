import * as z from 'zod/mini';
import type { Call, FileSearch } from '../../../platform/index.ts';
import { emptyBatch } from '../../page/record-batch.ts';
import {
  assumptionNames,
  type Claim,
  consistencies,
  provedIf,
  type Scan,
  type ScanOutcome,
  type ScanStart,
  type ScanStep,
  totalsSchema,
} from '../../scan.ts';
import { missingId, refusedForMissing } from '../missing-ids.ts';
import { type RereadPosition, rereading, rereadPosition } from '../rereading.ts';
import { type FilesetPosition, type FilesetResult, filesetPosition, readFileset } from './fileset-read.ts';
import { type FilesetOutcome, judgeRead } from './judge-read.ts';
import { filePageReader } from './pages.ts';

export type FilesScanOptions = {
  readonly call: Call;
  /** UUIDs in upper or lower case, read in this order; duplicates are skipped. */
  readonly filesetIds: readonly string[];
  readonly search: FileSearch;
  /** How many files each page requests. Default: the limit of `search`, or else 1000. */
  readonly limit?: number | undefined;
};

/** Where a scan of files resumes. */
export type FilesPosition = {
  /** The index of the FileSet. */
  readonly fileset: number;
  /** Where its reads resume; null at its beginning. */
  readonly at: RereadPosition<FilesetPosition, string> | null;
  /** True once a segment of its own has begun for it, so that it can be read again. */
  readonly hasBegun: boolean;
  /** The sum of the totals of the FileSets before it. */
  readonly totals: ScanOutcome['totals'];
  /** What is known of all FileSets before it. */
  readonly claim: Claim;
  /** True if the files of each of them came in the order of creation. */
  readonly isAscending: boolean;
  /** The most reads that one of them took. */
  readonly passes: number;
  /** How many of the FileSets before it are missing. */
  readonly missing: number;
  /** True once a FileSet has gone missing after part of it was read. */
  readonly cut: boolean;
};

export const filesPosition: z.ZodMiniType<FilesPosition> = z.object({
  fileset: z.number(),
  at: z.nullable(rereadPosition(filesetPosition, z.string())),
  hasBegun: z.boolean(),
  totals: totalsSchema,
  claim: z.object({ consistency: z.enum(consistencies), assumes: z.array(z.enum(assumptionNames)) }),
  isAscending: z.boolean(),
  passes: z.number(),
  missing: z.number(),
  cut: z.boolean(),
});

const LIMIT = 1000;

/**
 * Scans the files of FileSets by cursor, the oldest first. Key: `FILESETID/FILEID`. What that order does not prove is
 * read again until two reads found the same files, at most three times in all (see `judge-read.ts`). A FileSet for which
 * the platform responds 404 or 403 is missing. The run is refused as `incomplete` if all FileSets are missing, or if one
 * went missing when it was half read.
 */
export function filesScan({
  call,
  filesetIds,
  search,
  limit = search.limit ?? LIMIT,
}: FilesScanOptions): Scan<FilesPosition> {
  const ids = [...new Set(filesetIds.map((id) => id.toLowerCase()))];
  const readPage = filePageReader(call, { ...search, limit });
  return async function* ({ from = START, ...start }) {
    let position = from;
    for (let id = ids[position.fileset]; id !== undefined; id = ids[position.fileset]) {
      start.signal?.throwIfAborted();
      const options = { filesetId: id, readPage };
      const reads = rereading<FilesetPosition, FilesetResult, FilesetOutcome, string>({
        read: (startOfRead, isLast) => readFileset(options, startOfRead, !isLast),
        judge: judgeRead,
      });
      position = yield* stepsOf(id, reads, { ...start, from: position, filesets: ids.length });
    }
    return outcomeOf(position, ids.length);
  };
}

const START: FilesPosition = {
  fileset: 0,
  at: null,
  hasBegun: false,
  totals: { start: 0, end: 0 },
  claim: { consistency: 'proved', assumes: [] },
  isAscending: true,
  passes: 1,
  missing: 0,
  cut: false,
};

type Start = ScanStart<FilesPosition> & {
  readonly from: FilesPosition;
  /** How many there are. */
  readonly filesets: number;
};
type Reads = ReturnType<typeof rereading<FilesetPosition, FilesetResult, FilesetOutcome, string>>;

/** The steps of one FileSet, and the position after it. */
async function* stepsOf(
  filesetId: string,
  reads: Reads,
  { from, filesets, ...start }: Start,
): AsyncGenerator<ScanStep<FilesPosition>, FilesPosition, undefined> {
  let position = from;
  // The total number of files is unknown until the last FileSet has been requested.
  const isLast = from.fileset === filesets - 1;
  const shareOf = (part: number) => (from.fileset + part) / filesets;
  const steps = reads({ ...start, from: from.at ?? undefined });
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done) {
        const after = nextFileset(position, value);
        yield {
          batch: value.batch,
          position: after,
          total: isLast ? after.totals.end : null,
          share: shareOf(1),
        };
        return after;
      }
      const begins = !position.hasBegun && value.batch.records > 0;
      position = { ...position, at: value.position, hasBegun: position.hasBegun || begins };
      const total = isLast ? sumOf(position.totals.end, value.total) : null;
      const share = shareOf(value.total ? Math.min(1, value.position.records / value.total) : 0);
      yield { ...value, position, total, share, segment: begins ? 'begins' : value.segment };
    }
  } catch (error) {
    const missing = missingId(filesetId, error);
    if (missing === undefined) throw error;
    const after = afterMissing(position);
    const total = isLast ? after.totals.end : null;
    yield { batch: emptyBatch, missing: [missing], position: after, total, share: shareOf(1) };
    return after;
  } finally {
    await steps.return(undefined as never);
  }
}

type EndOfReads = FilesetOutcome & { readonly passes: number };

function nextFileset(position: FilesPosition, { totals, passes, ...found }: EndOfReads): FilesPosition {
  return {
    ...position,
    fileset: position.fileset + 1,
    at: null,
    hasBegun: false,
    totals: {
      start: sumOf(position.totals.start, totals.start),
      end: sumOf(position.totals.end, totals.end),
    },
    claim: bothOf(position.claim, found),
    isAscending: position.isAscending && found.isAscending,
    passes: Math.max(position.passes, passes),
  };
}

function afterMissing(position: FilesPosition): FilesPosition {
  const isHalfRead = (position.at?.at ?? null) !== null;
  return {
    ...position,
    fileset: position.fileset + 1,
    at: null,
    hasBegun: false,
    missing: position.missing + 1,
    cut: position.cut || isHalfRead,
  };
}

/** Null once the platform did not report one of them. */
const sumOf = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

/** What holds for both, with the assumptions of both. */
const bothOf = (a: Claim, b: Claim): Claim =>
  provedIf(
    a.consistency === 'proved' && b.consistency === 'proved',
    assumptionNames.filter((each) => a.assumes.includes(each) || b.assumes.includes(each)),
  );

function outcomeOf(position: FilesPosition, requested: number): ScanOutcome {
  const { claim, isAscending, totals, passes, missing, cut } = position;
  return {
    ...claim,
    totals,
    passes,
    order: isAscending ? 'created' : 'none',
    refused: cut ? ['incomplete'] : refusedForMissing(missing, requested),
  };
}

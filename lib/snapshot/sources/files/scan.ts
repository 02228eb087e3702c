import * as z from 'zod/mini';
import type { Call, FileSearch } from '../../../platform/index.ts';
import { emptyBatch, type RecordBatch } from '../../page/record-batch.ts';
import {
  assumptionNames,
  type Claim,
  outcomeSchema,
  provedIf,
  type Scan,
  type ScanOutcome,
  type ScanStart,
  type ScanStep,
  totalsSchema,
} from '../../scan.ts';
import { missingId, refusedForMissing } from '../refused-calls.ts';
import { mappedSteps, rereading, rereadPosition } from '../rereading.ts';
import {
  type FilesetOutcome,
  type FilesetPosition,
  type FilesetReadOptions,
  filesetPosition,
  judgeRead,
  readFileset,
} from './fileset-read.ts';
import { filePageReader } from './pages.ts';

export type FilesScanOptions = {
  readonly call: Call;
  /** UUIDs in upper or lower case, read in this order; duplicates are skipped. */
  readonly filesetIds: readonly string[];
  readonly search: FileSearch;
  /** How many files each page requests. Default: the limit of `search`, or else 1000. */
  readonly limit?: number | undefined;
};

export const filesPosition = z.object({
  fileset: z.number(),
  /** Where its reads resume; null at its beginning. */
  at: z.nullable(rereadPosition(filesetPosition, z.number())),
  /** True once a segment of its own has begun for it, so that it can be read again. */
  hasBegun: z.boolean(),
  /** The sum of the totals of the FileSets before it. */
  totals: totalsSchema,
  /** What is known of all FileSets before it. */
  claim: z.pick(outcomeSchema, { consistency: true, assumes: true }),
  /** True if the files of each of them came in the order of creation. */
  isAscending: z.boolean(),
  /** The most reads that one of them took. */
  passes: z.number(),
  /** How many of the FileSets before it are missing. */
  missing: z.number(),
  /** True once a FileSet has gone missing after part of it was read. */
  cut: z.boolean(),
});

export type FilesPosition = z.infer<typeof filesPosition>;

const LIMIT = 1000;

/**
 * Scans the files of FileSets, the oldest first. Key: `FILESETID/FILEID`. What that does not prove is read again, at
 * most three times (`judgeRead`). After 404 or 403 a FileSet is missing: `incomplete` if all are, or one was half read.
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
      const fileset = { filesetId: id, filesets: ids.length, readPage };
      position = yield* stepsOf(fileset, { ...start, from: position });
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

type FilesetOptions = FilesetReadOptions & {
  readonly filesets: number;
};

async function* stepsOf(
  { filesetId, filesets, readPage }: FilesetOptions,
  { from, ...start }: ScanStart<FilesPosition> & { readonly from: FilesPosition },
): AsyncGenerator<ScanStep<FilesPosition>, FilesPosition, undefined> {
  const reads = rereading({
    read: (startOfRead: ScanStart<FilesetPosition>, isLast: boolean) =>
      readFileset({ filesetId, readPage }, startOfRead, !isLast),
    judge: judgeRead,
  });
  let position = from;
  // The total number of files is unknown until the last FileSet has been requested.
  const isLast = from.fileset === filesets - 1;
  const shareOf = (part: number) => (from.fileset + part) / filesets;
  const ended = (batch: RecordBatch, after: FilesPosition) => ({
    batch,
    position: after,
    total: isLast ? after.totals.end : null,
    share: shareOf(1),
  });
  try {
    const steps = mappedSteps(reads({ ...start, from: from.at ?? undefined }), (step) => {
      const begins = !position.hasBegun && step.batch.records > 0;
      position = { ...position, at: step.position, hasBegun: position.hasBegun || begins };
      const total = isLast ? sumOf(position.totals.end, step.total) : null;
      const share = shareOf(step.total ? Math.min(1, step.position.records / step.total) : 0);
      return { ...step, position, total, share, segment: begins ? ('begins' as const) : step.segment };
    });
    const end = yield* steps;
    position = nextFileset(position, end);
    yield ended(end.batch, position);
  } catch (error) {
    const missing = missingId(filesetId, error);
    if (missing === undefined) throw error;
    position = afterMissing(position);
    yield { ...ended(emptyBatch, position), missing: [missing] };
  }
  return position;
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

import * as z from 'zod/mini';
import type { Call } from '../../../platform/index.ts';
import type { FileSearch } from '../../../platform/operations/index.ts';
import { emptyBatch, type RecordBatch } from '../../page/record-fields.ts';
import {
  assumptionNames,
  type Completeness,
  outcomeSchema,
  type Scan,
  type ScanOutcome,
  type ScanStart,
  type ScanStep,
  totalsSchema,
  verifiedIf,
} from '../../scan.ts';
import { afterFailure, refuseBadRequests, refusedForMissing } from '../fan-out.ts';
import { mappedSteps, rereading, rereadPosition } from '../rereading.ts';
import {
  type FilesetOutcome,
  type FilesetPosition,
  filePageReader,
  filesetPosition,
  judgeRead,
  readFileset,
} from './fileset-read.ts';

/** Schema of the position of a `filesScan`. `fileset`: the index of the current FileSet. */
export const filesPosition = z.object({
  fileset: z.number(),
  /** The position within the current FileSet; null at its beginning. */
  at: z.nullable(rereadPosition(filesetPosition, z.number())),
  /** Whether a segment has begun for the current FileSet, so that it can be read again. */
  hasBegun: z.boolean(),
  /** The sum of the totals of the earlier FileSets. */
  totals: totalsSchema,
  /** What is proved about the earlier FileSets together. */
  claim: z.pick(outcomeSchema, { consistency: true, assumes: true }),
  /** Whether the files of every earlier FileSet came in the order of creation. */
  isAscending: z.boolean(),
  /** How many times the FileSet that needed the most reads was read. */
  passes: z.number(),
  /** The number of earlier FileSets that are missing. */
  missing: z.number(),
});

/** See `filesPosition`. */
type FilesPosition = z.infer<typeof filesPosition>;

/** The number of files to request for each page. */
const FILES_PER_PAGE = 1000;

/**
 * Scans the files of FileSets, oldest files first. Key: `FILESETID/FILEID`. A read that does not prove the list is
 * repeated, at most three times (`judgeRead`). A FileSet that cannot be read is missing (`afterFailure`) and has no
 * records; if all are missing, the run is refused as `incomplete`.
 */
export function filesScan(options: {
  readonly call: Call;
  /** The FileSets as UUIDs in upper or lower case, read in this order; duplicates are skipped. */
  readonly filesetIds: readonly string[];
  readonly search: FileSearch;
  /** The number of files to request for each page. Default: the limit of `search`, or else 1000. */
  readonly limit?: number | undefined;
}): Scan<FilesPosition> {
  const { call, filesetIds, search, limit = search.limit ?? FILES_PER_PAGE } = options;
  const ids = [...new Set(filesetIds.map((id) => id.toLowerCase()))];
  const readPage = filePageReader(call, { ...search, limit });
  return async function* ({ from = START, ...start }) {
    let position = from;
    for (let id = ids[position.fileset]; id !== undefined; id = ids[position.fileset]) {
      start.signal?.throwIfAborted();
      const fileset = { filesetId: id, filesetIds: ids, readPage };
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
};

/**
 * How many times the read of a FileSet may be resumed after a failure, once the platform responds again. After that the
 * error is thrown.
 */
const MAX_RESUMED = 3;

async function* stepsOf(
  options: Parameters<typeof readFileset>[0] & {
    readonly filesetIds: readonly string[];
  },
  { from, ...start }: ScanStart<FilesPosition> & { readonly from: FilesPosition },
): AsyncGenerator<ScanStep<FilesPosition>, FilesPosition, undefined> {
  const { filesetId, filesetIds, readPage } = options;
  const reads = rereading({
    read: (startOfRead: ScanStart<FilesetPosition>, isLast: boolean) =>
      readFileset({ filesetId, readPage }, startOfRead, !isLast),
    judge: judgeRead,
  });
  let position = from;
  // The total number of files is unknown until the last FileSet has been requested.
  const isLast = from.fileset === filesetIds.length - 1;
  const shareOf = (part: number) => (from.fileset + part) / filesetIds.length;
  const ended = (batch: RecordBatch, after: FilesPosition) => ({
    batch,
    position: after,
    total: isLast ? after.totals.end : null,
    share: shareOf(1),
  });
  const read = (id: string) =>
    readPage({
      filesetId: id,
      next: id === filesetId ? (position.at?.at?.next ?? null) : null,
      signal: start.signal,
    });
  for (let resumed = 0; ; resumed += 1) {
    try {
      const steps = mappedSteps(reads({ ...start, from: position.at ?? undefined }), (step) => {
        const begins = !position.hasBegun && step.batch.records > 0;
        position = { ...position, at: step.position, hasBegun: position.hasBegun || begins };
        const total = isLast ? sumOf(position.totals.end, step.total) : null;
        const share = shareOf(step.total ? Math.min(1, step.position.records / step.total) : 0);
        return { ...step, position, total, share, segment: begins ? ('begins' as const) : step.segment };
      });
      const end = yield* steps;
      position = nextFileset(position, end);
      yield ended(end.batch, position);
      return position;
    } catch (error) {
      const outcome = await afterFailure(error, { id: filesetId, ids: filesetIds, read });
      if (outcome.kind === 'read' && resumed < MAX_RESUMED) continue;
      if (outcome.kind === 'read') throw error;
      const segment = position.hasBegun ? ('restarts' as const) : undefined;
      position = afterMissing(position);
      refuseBadRequests(position.missing, filesetIds.length, outcome.error);
      yield { ...ended(emptyBatch, position), missing: [outcome.missing], segment };
      return position;
    }
  }
}

function nextFileset(
  position: FilesPosition,
  options: FilesetOutcome & { readonly passes: number },
): FilesPosition {
  const { totals, passes, ...found } = options;
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

const afterMissing = (position: FilesPosition): FilesPosition => ({
  ...position,
  fileset: position.fileset + 1,
  at: null,
  hasBegun: false,
  missing: position.missing + 1,
});

/** The sum of two numbers; null if one of them is unknown. */
const sumOf = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

const bothOf = (a: Completeness, b: Completeness): Completeness =>
  verifiedIf(
    a.consistency === 'proved' && b.consistency === 'proved',
    assumptionNames.filter((each) => a.assumes.includes(each) || b.assumes.includes(each)),
  );

function outcomeOf(position: FilesPosition, requested: number): ScanOutcome {
  const { claim, isAscending, totals, passes, missing } = position;
  return {
    ...claim,
    totals,
    passes,
    order: isAscending ? 'created' : 'none',
    refused: refusedForMissing(missing, requested),
  };
}

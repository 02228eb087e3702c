import type { SentimentRequest } from '../../../platform/index.ts';
import { idOfSegment, keySegment, type Store } from '../../../store/index.ts';
import type { Table } from '../../../table/index.ts';

/** What is requested for every text of a batch. */
export type ScoreRequest = Omit<SentimentRequest, 'text'>;

/** Where the batches are stored. */
export type BatchStorage = {
  readonly store: Store;
  readonly table: Table;
  /** Returns a new name at each call, such as a UUID, for writes to the table. */
  readonly newToken: () => string;
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
};

/** How long scores in the cache, and the rows of a batch, stay after their last write, in milliseconds: 90 days. */
export const RETENTION_MS = 90 * 24 * 3_600_000;

/** One chunk of a batch; `chunk` counts from 0. */
export type ChunkId = { readonly batch: string; readonly chunk: number };

/** Thrown if a chunk of this batch was already split from other rows, or for another request. */
export class BatchConflictError extends Error {
  override readonly name = 'BatchConflictError';

  constructor({ batch, chunk }: ChunkId) {
    super(
      `batch ${batch} already exists with other rows, topics, instructions or model (chunk ${chunk} differs). Run it again with the same rows (you may add rows at the end), choose another name (scored texts are not paid for again), or forget the old batch`,
    );
  }
}

/** Maximum bad rows of a batch that are listed. */
export const MAX_LISTED_BAD_ROWS = 20;

/** The number of calls of a batch that scored no text, so that it is unknown whether the platform executed them. */
export const unknownCalls = (counts: Readonly<Record<'calls' | 'scored' | 'cached', number>>): number =>
  Math.max(0, counts.calls - Math.max(0, counts.scored - counts.cached));

/** The number of a chunk in names: five digits, or more if needed. */
export const paddedNumber = (chunk: number) => String(chunk).padStart(5, '0');

/** The id of a chunk's job. */
export const chunkJobId = ({ batch, chunk }: ChunkId) => `${batch}.chunk-${paddedNumber(chunk)}`;

/** The key of a chunk's staged rows. */
export const stagedKey = ({ batch, chunk }: ChunkId) =>
  `${stagedFolder(batch)}chunk-${paddedNumber(chunk)}.json`;

/** The folder of a batch's staged chunks. */
export const stagedFolder = (batch: string) => `${STAGED_FOLDER}${keySegment(batch)}/`;
export const STAGED_FOLDER = 'work/scores/';

/** The folder of a batch's scores. */
export const scoresFolder = (batch: string) => `${SCORES_FOLDER}${keySegment(batch)}/`;
export const SCORES_FOLDER = 'scores/';

/** The key of a summary. Its name begins with `_`, so that SQL engines skip it. */
export const summaryKey = (batch: string) => `${scoresFolder(batch)}_summary.json`;

/** The beginning of the keys of a chunk's parts; `printPart` adds the rest. */
export const partPrefix = ({ batch, chunk }: ChunkId) => `${scoresFolder(batch)}part-${paddedNumber(chunk)}-`;

/** The partition of a batch in the table: a row for each chunk, the header, and the limit of its calls. */
export const batchPartition = (batch: string) => `batch#${batch}`;
/** The sort key of the limit of a batch's calls. */
export const CALLS_SORT = '_calls';

function chunkOfKey(key: string, pattern: RegExp): ChunkId | undefined {
  const [, segment, chunk] = pattern.exec(key) ?? [];
  const batch = segment === undefined ? undefined : idOfSegment(segment);
  return batch === undefined ? undefined : { batch, chunk: Number(chunk) };
}

/** The chunk whose staged rows have this key; undefined if the key is of another form. */
export const chunkOfStaged = (key: string) => chunkOfKey(key, /^work\/scores\/([^/]+)\/chunk-(\d+)\.json$/);

/** The chunk whose part has this key; undefined if the key is of another form. */
export const chunkOfPart = (key: string) =>
  chunkOfKey(key, /^scores\/([^/]+)\/part-(\d+)-[0-9a-f]{8}-[0-9a-f]{12}\.ndjson\.gz$/);

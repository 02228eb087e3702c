import type { SentimentRequest } from '../../../platform/operations/analyze-sentiment.ts';
import type { Store } from '../../../store/store.ts';
import type { Table } from '../../../table/table.ts';
import { batchName } from '../../types/score/message.ts';

/** What is asked of every text of a batch. */
export type ScoreRequest = Omit<SentimentRequest, 'text'>;

/** Where batches live. */
export type BatchPlace = {
  readonly store: Store;
  readonly table: Table;
  /** A new name at each call, such as a UUID: for the writes to the table. */
  readonly newToken: () => string;
};

/** One chunk of a batch; `chunk` counts from 0. */
export type ChunkPlace = { readonly batch: string; readonly chunk: number };

/** The longest name of a batch: a chunk's job id is the name and `.chunk-9999999`, and has 128 characters at most. */
export const LONGEST_BATCH_NAME = 114;

/** Whether a batch may have this name: not the one whose folder the cache has. */
export const isBatchName = (name: string): boolean =>
  batchName.safeParse(name).success && name.length <= LONGEST_BATCH_NAME && name !== CACHE_FOLDER_NAME;

/** Beside the folders of the batches. */
export const CACHE_FOLDER_NAME = '_cache';

/** The number of a chunk as it stands in names: five digits, more where there are more. */
const numbered = (chunk: number) => String(chunk).padStart(5, '0');

/** The job that scores a chunk. */
export const chunkJobId = ({ batch, chunk }: ChunkPlace) => `${batch}.chunk-${numbered(chunk)}`;

/** Where the rows of a chunk wait for its job. */
export const stagedKey = ({ batch, chunk }: ChunkPlace) =>
  `${stagedFolder(batch)}chunk-${numbered(chunk)}.json`;
export const stagedFolder = (batch: string) => `${STAGED_FOLDER}${batch}/`;
export const STAGED_FOLDER = 'work/scores/';

/** Where the results of a batch lie. Ends in a slash. */
export const scoresFolder = (batch: string) => `${SCORES_FOLDER}${batch}/`;
export const SCORES_FOLDER = 'scores/';
export const summaryKey = (batch: string) => `${scoresFolder(batch)}summary.json`;

/** What the key of each part of a chunk begins with; the rest is the start of its sha256 and the suffix. */
export const partPrefix = ({ batch, chunk }: ChunkPlace) => `${scoresFolder(batch)}part-${numbered(chunk)}-`;

/** The rows of the table that belong to a batch: one a chunk, and the header. */
export const batchPartition = (batch: string) => `batch#${batch}`;
export const chunkSort = (chunk: number) => `chunk-${numbered(chunk)}`;
export const HEADER_SORT = '_header';

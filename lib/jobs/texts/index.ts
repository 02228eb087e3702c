/*
 * Batches of texts and their scores: scoring, reading and forgetting them. The code of each verb is loaded
 * when the verb is called.
 */

export {
  BatchConflictError,
  MAX_LISTED_BAD_ROWS,
  SCORES_FOLDER,
  scoresFolder,
  summaryKey,
  unknownCalls,
} from './batch/batch.ts';
export type { BatchStatus, FailedRow } from './batch/batch-status.ts';
export type { BadRow, Preview, Refusal } from './batch/check-batch.ts';
export type { Summary } from './batch/finish-batch.ts';
export type { DailyUsage } from './daily-usage.ts';
export type { Erased } from './forget.ts';
export type { RecognizedInput } from './rows/read-rows.ts';

type Args<F extends (...args: never) => unknown> = Parameters<F>;

type Status = typeof import('./batch/batch-status.ts');
type Forget = typeof import('./forget.ts');

/** Opens the scoring of an input's texts in this process. */
export const openScoring = async (...args: Args<typeof import('./open-scoring.ts')['openScoring']>) =>
  (await import('./open-scoring.ts')).openScoring(...args);

/** Opens the function that splits requests of the inbox into jobs. */
export const openInbox = async (...args: Args<typeof import('../split-inbox.ts')['openInbox']>) =>
  (await import('../split-inbox.ts')).openInbox(...args);

/** Lists the names of all batches in a store. */
export const batchNames = async (...args: Args<Status['batchNames']>) =>
  (await import('./batch/batch-status.ts')).batchNames(...args);

/** Reads the progress of a batch. */
export const readBatchStatus = async (...args: Args<Status['readBatchStatus']>) =>
  (await import('./batch/batch-status.ts')).readBatchStatus(...args);

/** Lists the failed rows of a batch. */
export const failedRows = async (...args: Args<Status['failedRows']>) =>
  (await import('./batch/batch-status.ts')).failedRows(...args);

/** Reads the summary of a batch that is done. */
export const findSummary = async (...args: Args<typeof import('./batch/finish-batch.ts')['findSummary']>) =>
  (await import('./batch/finish-batch.ts')).findSummary(...args);

/** Reads the rows of a part of scores. */
export const readScores = async (...args: Args<typeof import('./batch/chunk-objects.ts')['readScores']>) =>
  (await import('./batch/chunk-objects.ts')).readScores(...args);

/** Reads the lines of a part of scores, as bytes. */
export const findRows = async (...args: Args<typeof import('./batch/chunk-objects.ts')['findRows']>) =>
  (await import('./batch/chunk-objects.ts')).findRows(...args);

/** Erases a text or a batch, or counts what would be erased. */
export const forget = async (...args: Args<Forget['forget']>) =>
  (await import('./forget.ts')).forget(...args);

/** Whether anything of a batch is left. */
export const isBatchKnown = async (...args: Args<Forget['isBatchKnown']>) =>
  (await import('./forget.ts')).isBatchKnown(...args);

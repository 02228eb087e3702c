/*
 * Batches of texts and their scores: scoring, reading and forgetting them. The code of each verb is loaded
 * when the verb is called.
 */

export {
  BatchConflictError,
  NAMED_BAD_ROWS,
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
export type { InputFound } from './rows/read-rows.ts';

type Of<F extends (...given: never) => unknown> = Parameters<F>;

type Status = typeof import('./batch/batch-status.ts');
type Forget = typeof import('./forget.ts');

/** Opens the scoring of a source's texts in this process. */
export const openScoring = async (...given: Of<typeof import('./open-scoring.ts')['openScoring']>) =>
  (await import('./open-scoring.ts')).openScoring(...given);

/** Opens the function that splits requests of the inbox into jobs. */
export const openInbox = async (...given: Of<typeof import('../split-inbox.ts')['openInbox']>) =>
  (await import('../split-inbox.ts')).openInbox(...given);

/** Lists the names of all batches in a store. */
export const batchNames = async (...given: Of<Status['batchNames']>) =>
  (await import('./batch/batch-status.ts')).batchNames(...given);

/** Reads the progress of a batch. */
export const readBatchStatus = async (...given: Of<Status['readBatchStatus']>) =>
  (await import('./batch/batch-status.ts')).readBatchStatus(...given);

/** Lists the failed rows of a batch. */
export const failedRows = async (...given: Of<Status['failedRows']>) =>
  (await import('./batch/batch-status.ts')).failedRows(...given);

/** Reads the summary of a batch that is done. */
export const findSummary = async (...given: Of<typeof import('./batch/finish-batch.ts')['findSummary']>) =>
  (await import('./batch/finish-batch.ts')).findSummary(...given);

/** Reads the rows of a part of scores. */
export const readScores = async (...given: Of<typeof import('./batch/chunk-objects.ts')['readScores']>) =>
  (await import('./batch/chunk-objects.ts')).readScores(...given);

/** Reads the lines of a part of scores, as bytes. */
export const findRows = async (...given: Of<typeof import('./batch/chunk-objects.ts')['findRows']>) =>
  (await import('./batch/chunk-objects.ts')).findRows(...given);

/** Erases a text or a batch, or counts what would be erased. */
export const forget = async (...given: Of<Forget['forget']>) =>
  (await import('./forget.ts')).forget(...given);

/** Whether anything of a batch is left. */
export const isBatchKnown = async (...given: Of<Forget['isBatchKnown']>) =>
  (await import('./forget.ts')).isBatchKnown(...given);

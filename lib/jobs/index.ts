/*
 * What commands and functions do with jobs: run, send, list, cancel and redrive them. The code of each verb
 * is large, and is loaded when the verb is called.
 */

export type { JobFile } from './file/job-file.ts';
export type { EndedJob } from './handle-message.ts';
export {
  adviceFor,
  adviceWords,
  batchOfJob,
  OTHER_CONTENT,
  WAS_EXECUTED,
} from './job-advice.ts';
export type { Ledger } from './ledger/ledger.ts';
export type { EndedBefore } from './local-worker.ts';
export type { Queue } from './queue/queue.ts';
export type { JobFinished } from './result.ts';

type Of<F extends (...given: never) => unknown> = Parameters<F>;

type Storage = typeof import('./job-storage.ts');
type Check = typeof import('./ledger-check.ts');
type Queues = typeof import('./queue/open-queue.ts');
type Limits = typeof import('./queue/queue-limits.ts');
type Redrive = typeof import('./redrive.ts');
type Results = typeof import('./result.ts');

/** Opens the ledger, and the batches of texts, in the configured table. */
export const openJobState = async (...given: Of<Storage['openJobState']>) =>
  (await import('./job-storage.ts')).openJobState(...given);

/** Creates the check that a table knows all jobs that have ended. */
export const ledgerCheckOf =
  (...given: Of<Check['ledgerCheckOf']>) =>
  async (): Promise<void> =>
    (await import('./ledger-check.ts')).ledgerCheckOf(...given)();

/** Opens a worker in this process, for the rows of a file or for a queue. */
export const openLocalWorker = async (...given: Of<typeof import('./local-worker.ts')['openLocalWorker']>) =>
  (await import('./local-worker.ts')).openLocalWorker(...given);

/** Opens the worker of a deployed function. */
export const openInvocationWorker = async (
  ...given: Of<typeof import('./open-worker.ts')['openInvocationWorker']>
) => (await import('./open-worker.ts')).openInvocationWorker(...given);

/** Opens the queue that a setting names, in SQS or in a file. */
export const openQueue = async (...given: Of<Queues['openQueue']>) =>
  (await import('./queue/open-queue.ts')).openQueue(...given);

/** Reads the limits of a queue, and finds what is wrong with them. */
export const examineLimits = async (...given: Of<Limits['examineLimits']>) =>
  (await import('./queue/queue-limits.ts')).examineLimits(...given);

/** Wraps a queue so that it counts the messages that become dead letters. */
export const watchDeadLetters = async (...given: Of<Limits['watchDeadLetters']>) =>
  (await import('./queue/queue-limits.ts')).watchDeadLetters(...given);

/** Checks all jobs of a file. */
export const checkJobFile = async (...given: Of<typeof import('./file/job-file.ts')['checkJobFile']>) =>
  (await import('./file/job-file.ts')).checkJobFile(...given);

/** Counts the jobs of a file that had ended before. */
export const endedBeforeHere = async (...given: Of<typeof import('./local-worker.ts')['endedBeforeHere']>) =>
  (await import('./local-worker.ts')).endedBeforeHere(...given);

/** Sends jobs to the configured queue. */
export const submitJobs = async (...given: Of<typeof import('./send-jobs.ts')['submitJobs']>) =>
  (await import('./send-jobs.ts')).submitJobs(...given);

/** Cancels a job that has not been sent. */
export const cancelJob = async (...given: Of<typeof import('./cancel.ts')['cancelJob']>) =>
  (await import('./cancel.ts')).cancelJob(...given);

/** Cancels the jobs of a batch that have not ended. */
export const cancelBatch = async (...given: Of<typeof import('./cancel.ts')['cancelBatch']>) =>
  (await import('./cancel.ts')).cancelBatch(...given);

/** Reopens failed jobs on the configured queue. */
export const openRedrive = async (...given: Of<typeof import('./open-redrive.ts')['openRedrive']>) =>
  (await import('./open-redrive.ts')).openRedrive(...given);

/** Moves dead letters back to a queue. */
export const moveDeadLetters = async (...given: Of<Redrive['moveDeadLetters']>) =>
  (await import('./redrive.ts')).moveDeadLetters(...given);

/** Finds the stored message of a job that did not succeed. */
export const findFailedMessage = async (...given: Of<Redrive['findFailedMessage']>) =>
  (await import('./redrive.ts')).findFailedMessage(...given);

/** Settles an unknown job with the outcome that a person reports. */
export const resolveJob = async (...given: Of<Redrive['resolveJob']>) =>
  (await import('./redrive.ts')).resolveJob(...given);

/** Finds the jobs that ended before a moment, to prune their rows. */
export const findOldJobs = async (...given: Of<typeof import('./prune-jobs.ts')['findOldJobs']>) =>
  (await import('./prune-jobs.ts')).findOldJobs(...given);

/** Iterates over the stored results of jobs. */
export async function* storedResults(...given: Of<Results['storedResults']>) {
  yield* (await import('./result.ts')).storedResults(...given);
}

/** Finds the stored result of a job by its id. */
export const findResult = async (...given: Of<Results['findResult']>) =>
  (await import('./result.ts')).findResult(...given);

/** Reads the bytes of a stored result. */
export const bytesOfResult = async (...given: Of<Results['bytesOfResult']>) =>
  (await import('./result.ts')).bytesOfResult(...given);

/** Opens the record of jobs of schedules that are due, and finds those that did not arrive. */
export const openExpectedJobs = async (
  ...given: Of<typeof import('./expected-jobs.ts')['openExpectedJobs']>
) => (await import('./expected-jobs.ts')).openExpectedJobs(...given);

/** Parses the input of an execution: the snapshots that it takes. */
export const parseExecutionInput = async (
  ...given: Of<typeof import('./types/snapshot/open-snapshots.ts')['parseExecutionInput']>
) => (await import('./types/snapshot/open-snapshots.ts')).parseExecutionInput(...given);

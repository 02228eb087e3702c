/*
 * What commands and functions do with jobs: run, send, list, cancel and redrive them. The code of each verb
 * is large, and is loaded when the verb is called.
 */

export type { JobFile } from './file/job-file.ts';
export type { EndedJob } from './handle-message.ts';
export {
  adviceFor,
  adviceSentence,
  batchOfJob,
  OTHER_CONTENT,
  WAS_EXECUTED,
} from './job-advice.ts';
export type { Ledger } from './ledger/ledger.ts';
export type { EndedCounts } from './local-worker.ts';
export type { Queue } from './queue/queue.ts';
export type { JobFinished } from './result.ts';

type Args<F extends (...args: never) => unknown> = Parameters<F>;

type Storage = typeof import('./job-storage.ts');
type Check = typeof import('./ledger-check.ts');
type Queues = typeof import('./queue/open-queue.ts');
type Limits = typeof import('./queue/queue-limits.ts');
type Redrive = typeof import('./redrive.ts');
type Results = typeof import('./result.ts');

/** Opens the ledger, and the batches of texts, in the configured table. */
export const openJobState = async (...args: Args<Storage['openJobState']>) =>
  (await import('./job-storage.ts')).openJobState(...args);

/** Creates the check that a table knows all jobs that have ended. */
export const createLedgerCheck =
  (...args: Args<Check['createLedgerCheck']>) =>
  async (): Promise<void> =>
    (await import('./ledger-check.ts')).createLedgerCheck(...args)();

/** Opens a worker in this process, for the rows of a file or for a queue. */
export const openLocalWorker = async (...args: Args<typeof import('./local-worker.ts')['openLocalWorker']>) =>
  (await import('./local-worker.ts')).openLocalWorker(...args);

/** Opens the worker of a deployed function. */
export const openInvocationWorker = async (
  ...args: Args<typeof import('./open-worker.ts')['openInvocationWorker']>
) => (await import('./open-worker.ts')).openInvocationWorker(...args);

/** Opens the queue at this location, in SQS or in a file. */
export const openQueue = async (...args: Args<Queues['openQueue']>) =>
  (await import('./queue/open-queue.ts')).openQueue(...args);

/** Reads the limits of a queue, and finds what is wrong with them. */
export const examineLimits = async (...args: Args<Limits['examineLimits']>) =>
  (await import('./queue/queue-limits.ts')).examineLimits(...args);

/** Wraps a queue so that it counts the messages that become dead letters. */
export const watchDeadLetters = async (...args: Args<Limits['watchDeadLetters']>) =>
  (await import('./queue/queue-limits.ts')).watchDeadLetters(...args);

/** Checks all jobs of a file. */
export const checkJobFile = async (...args: Args<typeof import('./file/job-file.ts')['checkJobFile']>) =>
  (await import('./file/job-file.ts')).checkJobFile(...args);

/** Counts the jobs of a file that have already ended. */
export const countEndedJobs = async (...args: Args<typeof import('./local-worker.ts')['countEndedJobs']>) =>
  (await import('./local-worker.ts')).countEndedJobs(...args);

/** Sends jobs to the configured queue. */
export const submitJobs = async (...args: Args<typeof import('./send-jobs.ts')['submitJobs']>) =>
  (await import('./send-jobs.ts')).submitJobs(...args);

/** Cancels a job that has not been sent. */
export const cancelJob = async (...args: Args<typeof import('./cancel.ts')['cancelJob']>) =>
  (await import('./cancel.ts')).cancelJob(...args);

/** Cancels the jobs of a batch that have not ended. */
export const cancelBatch = async (...args: Args<typeof import('./cancel.ts')['cancelBatch']>) =>
  (await import('./cancel.ts')).cancelBatch(...args);

/** Reopens failed jobs on the configured queue. */
export const openRedrive = async (...args: Args<typeof import('./open-redrive.ts')['openRedrive']>) =>
  (await import('./open-redrive.ts')).openRedrive(...args);

/** Moves dead letters back to a queue. */
export const moveDeadLetters = async (...args: Args<Redrive['moveDeadLetters']>) =>
  (await import('./redrive.ts')).moveDeadLetters(...args);

/** Finds the stored message of a job that did not succeed. */
export const findFailedMessage = async (...args: Args<Redrive['findFailedMessage']>) =>
  (await import('./redrive.ts')).findFailedMessage(...args);

/** Settles an unknown job with the outcome that a user reports. */
export const resolveJob = async (...args: Args<Redrive['resolveJob']>) =>
  (await import('./redrive.ts')).resolveJob(...args);

/** Finds the jobs that ended before a cutoff, to prune their rows. */
export const findOldJobs = async (...args: Args<typeof import('./prune-jobs.ts')['findOldJobs']>) =>
  (await import('./prune-jobs.ts')).findOldJobs(...args);

/** Iterates over the stored results of jobs. */
export async function* storedResults(...args: Args<Results['storedResults']>) {
  yield* (await import('./result.ts')).storedResults(...args);
}

/** Finds the stored result of a job by its id. */
export const findResult = async (...args: Args<Results['findResult']>) =>
  (await import('./result.ts')).findResult(...args);

/** Reads the bytes of a stored result. */
export const readResultBytes = async (...args: Args<Results['readResultBytes']>) =>
  (await import('./result.ts')).readResultBytes(...args);

/** Opens the record of due jobs of schedules, which finds jobs that did not arrive. */
export const openExpectedJobs = async (
  ...args: Args<typeof import('./expected-jobs.ts')['openExpectedJobs']>
) => (await import('./expected-jobs.ts')).openExpectedJobs(...args);

/** Parses the input of an execution: the snapshots that it takes. */
export const parseExecutionInput = async (
  ...args: Args<typeof import('./types/snapshot/open-snapshots.ts')['parseExecutionInput']>
) => (await import('./types/snapshot/open-snapshots.ts')).parseExecutionInput(...args);

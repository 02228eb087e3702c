import PQueue from 'p-queue';
import { isOfDisk, isPassing } from '../../base/aws/index.ts';
import { handleMessage, type Worker } from '../handle-message.ts';
import { type EndedJobRow, hasEnded, isSettled } from '../ledger/job-row.ts';
import { askedJob, publishEnd } from '../redrive.ts';
import { definitionOf } from '../types/job-types.ts';
import type { WorkOptions } from '../work.ts';
import type { FileRow } from './job-file.ts';

type RunRowsOptions = Pick<WorkOptions, 'worker' | 'lease' | 'signal' | 'sleep'> & {
  readonly concurrency: number;
  readonly sender: string;
  /** Called for each job that has ended before, which the first look at it finds, or that another process has ended. */
  readonly onEndedElsewhere: (row: EndedJobRow, hadEndedBefore: boolean) => void;
};

/** How many rows are under way, or wait until they are due: memory holds their messages. */
const MAX_OPEN = 500;

/** How often it is looked whether another process has ended the job of a row that waits. */
const LOOK_EVERY_MS = 2_000;

/** How long a place waits after the table or the store was away. */
const AFTER_OUTAGE_MS = 10_000;

/**
 * Runs the jobs of a file's rows here, each to its end. Two processes share the rows, since the ledger says which have ended.
 * Throws what the rows do, and what the ledger does if that will not pass.
 */
export async function runRows(rows: AsyncIterable<FileRow>, options: RunRowsOptions): Promise<void> {
  const running = new PQueue({ concurrency: options.concurrency });
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const open = new Set<Promise<void>>();
  try {
    for await (const row of rows) {
      const one = runRow(row, running, { ...options, signal })
        .catch((error: unknown) => failed.abort(error))
        .finally(() => open.delete(one));
      open.add(one);
      if (open.size >= MAX_OPEN) await Promise.race(open);
      if (signal.aborted) break;
    }
  } finally {
    await Promise.all(open);
  }
  failed.signal.throwIfAborted();
}

async function runRow(row: FileRow, running: PQueue, options: RunRowsOptions): Promise<void> {
  const { worker, signal, sleep } = options;
  let receives = 0;
  let dueAtMs = worker.now();
  while (!signal.aborted) {
    const isDue = dueAtMs <= worker.now();
    if (isDue) receives += 1;
    const delayMs = await running.add(() => lookAt(row, isDue ? receives : undefined, options));
    if (delayMs === 'ended') return;
    if (isDue) dueAtMs = worker.now() + delayMs;
    await sleep(Math.max(0, Math.min(LOOK_EVERY_MS, dueAtMs - worker.now())), signal).catch(() => undefined);
  }
}

/** Runs the job of a row unless it has ended, and returns how long it waits then. `receives`: undefined if it only waits. */
async function lookAt(
  { id, contentHash, body }: FileRow,
  receives: number | undefined,
  { worker, lease, sender, onEndedElsewhere, signal, sleep }: RunRowsOptions,
): Promise<number | 'ended'> {
  if (signal.aborted) return 0;
  try {
    const row = await worker.ledger.read(id);
    if (row !== undefined && hasEnded(row) && row.contentHash === contentHash) {
      await complete(row, body, worker);
      onEndedElsewhere(row, receives === 1);
      return 'ended';
    }
  } catch (error) {
    if (!isPassing(error)) throw error;
  }
  if (receives === undefined) return 0;
  try {
    const handled = await handleMessage(
      { messageId: id, receipt: id, body, sender, receives },
      worker,
      lease,
    );
    if (handled.kind === 'done') return 'ended';
    return handled.kind === 'later' ? handled.delayMs : 0;
  } catch (err) {
    // The next row would meet the same.
    if (isOfDisk(err)) throw err;
    worker.logger.error({ job: id, err }, 'job not run');
    if (!isPassing(err)) return 'ended';
    await sleep(AFTER_OUTAGE_MS, signal).catch(() => undefined);
    return 0;
  }
}

/** Stores what a killed process may have left out of a job that has ended: what its type adds, or what a person said. */
async function complete(row: EndedJobRow, body: string, { store, batches }: Worker): Promise<void> {
  const asked = askedJob(row.id, body);
  if (asked !== undefined && (isSettled(row) || definitionOf(asked.job).afterEnd !== undefined))
    await publishEnd({ ...row, type: asked.job.type }, asked, { store, batches });
}

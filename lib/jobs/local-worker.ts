import { isPassing } from '../base/aws/index.ts';
import { sleep } from '../base/index.ts';
import type { Session } from '../session.ts';
import { addEnded, type EndedBefore, noneBefore } from './file/ended-before.ts';
import type { JobFile } from './file/job-file.ts';
import { runRows } from './file/run-rows.ts';
import type { EndedJob } from './handle-message.ts';
import { openJobStorage } from './job-storage.ts';
import { openWorker, renewedLease } from './open-worker.ts';
import { senderHere } from './queue/open-queue.ts';
import { writeRunOutput } from './results/run-output.ts';
import { type WorkOptions, work } from './work.ts';

type LocalWorkerOptions = {
  /** Stops the work: jobs are returned unless a request has left. */
  readonly signal: AbortSignal;
  readonly concurrency: number;
  /** Called for each job that ends, and again if its message is delivered again; `where`: by which process. */
  readonly onEnded: (job: EndedHereOrElsewhere, where: 'here' | 'elsewhere') => void;
  /** Called for each message that is refused. */
  readonly onRefused: (messageId: string) => void;
};

/** Of a job that another process ended, only how it ended is known. */
type EndedHereOrElsewhere = Pick<EndedJob, 'id' | 'status' | 'error'> & Partial<EndedJob>;

type QueueOptions = Pick<WorkOptions, 'queue' | 'drain' | 'isWatched' | 'polls' | 'visibilitySeconds'>;

/** A worker in this process, which renews its leases as long as it lives. Throws if there is no table, or another one. */
export async function openLocalWorker(session: Session, options: LocalWorkerOptions) {
  const { signal, concurrency, onEnded, onRefused } = options;
  const storage = await openJobStorage(session);
  // A table that is unavailable is waited for; one that does not exist would keep all jobs on the queue.
  await storage.ledger.read('-').catch((error: unknown) => {
    if (!isPassing(error)) throw error;
  });
  const worker = await openWorker(session, storage, {
    onRefused,
    onEnded: (job) => onEnded(job, 'here'),
  });
  const lease = renewedLease(storage.ledger, { stop: signal });
  const parts = { worker, lease, concurrency, signal, sleep };
  return {
    /** Consumes a queue until it is stopped or, with `drain`, until the queue is empty. */
    work: (queue: QueueOptions) => work({ ...parts, ...queue }),
    /** Runs each job of a file to its end. Returns those that had ended before. */
    async runFile(jobs: JobFile): Promise<EndedBefore> {
      const before = noneBefore();
      await runRows(jobs.rows(), {
        ...parts,
        sender: senderHere(),
        onEndedElsewhere(row, hadEndedBefore) {
          if (hadEndedBefore) addEnded(before, row);
          onEnded({ id: row.id, ...row.outcome }, 'elsewhere');
        },
      });
      return before;
    },
    /** Writes the rows of a file with the outcomes of their jobs; returns the encoding. */
    writeOutput: (jobs: JobFile, output: Omit<Parameters<typeof writeRunOutput>[1], 'ledger' | 'store'>) =>
      writeRunOutput(jobs, { ...storage, ...output }),
  };
}

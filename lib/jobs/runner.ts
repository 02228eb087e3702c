import type { Outcome } from './ledger/job-row.ts';
import type { Job } from './message/message.ts';
import type { Turn } from './turn.ts';

/**
 * Does a job, and answers how it ended; `response` is JSON text, as the platform sent it where it did. What it throws
 * is judged by `afterFailure`.
 */
export type RunJob<Type extends Job['type']> = (
  job: Extract<Job, { readonly type: Type }>,
  turn: Turn,
) => Promise<Outcome>;

/** One runner a job type. */
export type Runners = { readonly [Type in Job['type']]: RunJob<Type> };

/** True if a send of the job whose end nobody knows may be made again: it does no harm, or the job says so. */
export function mayRepeat(job: Job): boolean {
  switch (job.type) {
    case 'score':
    case 'data-files':
    case 'snapshot':
      return true;
    case 'run-function':
      return job.onUnknown === 'retry';
    // A late repeat would undo somebody's newer formula.
    case 'update-formula':
      return false;
    default:
      return job satisfies never;
  }
}

import { wasExecuted } from './ledger/job-row.ts';
import { jobId } from './message/check-message.ts';

/** Why a job is not run if another job has its id: the template or the row was changed. */
export const OTHER_CONTENT =
  'another job has this id, with other content, perhaps because the template or the row was changed. With --name NAME, these rows count as a new set, and all of its jobs run';

/** Why a job that the platform executed is not reopened. */
export const WAS_EXECUTED = 'executed';

/** The batch of a chunk's job; undefined for any other job. */
export const batchOfJob = (id: string): string | undefined => /^(.+)\.chunk-\d+$/.exec(id)?.[1];

/**
 * What to do about a job that ended with this error: in words, and the command with its arguments. The command is
 * undefined if no job can have this id, because another program stored it.
 */
export function adviceFor(
  id: string,
  status: 'failed' | 'unknown',
  error?: unknown,
): {
  readonly say: string;
  readonly command?: 'jobs resolve' | 'redrive';
  readonly id?: string;
  readonly batch?: string;
} {
  if (!jobId.safeParse(id).success)
    return { say: 'This is not the id of a job, so no command takes it. Find out what stored it' };
  if (status === 'unknown')
    return {
      say: 'Check on the platform whether it took effect. Then record it as done, or as failed, so that redrive can run it again',
      command: 'jobs resolve',
      id,
    };
  if (wasExecuted(error))
    return {
      say: 'The platform executed it, so it has taken effect. To run it again anyway, give its id',
      command: 'redrive',
      id,
    };
  const batch = batchOfJob(id);
  return batch === undefined
    ? { say: 'Fix the cause, then run it again', command: 'redrive', id }
    : { say: 'Fix the cause, then score the rest', command: 'redrive', batch };
}

/** The advice as a sentence, with the command line for a POSIX shell. Ids of jobs need no quotes there. */
export function adviceSentence(jobsId: string, status: 'failed' | 'unknown', error?: unknown): string {
  const { say, command, id, batch } = adviceFor(jobsId, status, error);
  if (command === undefined) return `${say}.`;
  if (batch !== undefined) return `${say}: platform-sync ${command} --batch=${batch}`;
  const operand = id?.startsWith('-') ? `-- ${id}` : id;
  return command === 'redrive'
    ? `${say}: platform-sync redrive ${operand}`
    : `${say}: platform-sync jobs resolve --note 'WHAT YOU SAW' ${operand} done`;
}

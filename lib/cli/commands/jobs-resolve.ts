import { resolveJob } from '../../jobs/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import type { Run } from '../command.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { shown } from '../terminal/terminal.ts';

/** Settles an unknown job with the outcome that the user found out. Does not need the platform. */
export default (async ([id, status], { note }, terminal) => {
  const { environment, err } = terminal;
  const { kind, row, isPublished, hasMessage } = await resolveJob(
    id,
    { status, note },
    { ...(await openJobs(terminal)), environment },
  );
  if (isPublished && !hasMessage && row?.state === 'DONE')
    err(
      shown(
        `${id}: its message is not stored. If the job updated a formula, \`formula log\` does not show the formula until you run the command that started the job again`,
      ),
    );
  const settled = lowerCase(row?.state) ?? null;
  return {
    json: { id, became: kind, status: settled },
    words: `${id}: ${kind === 'resolved' ? `settled as ${settled}` : refusal(settled ?? 'not found')}`,
    ended: kind === 'resolved' ? 'done' : 'incomplete',
  };
}) satisfies Run<'jobs resolve'>;

const refusal = (status: string) => `${status}; only a job whose outcome is unknown can be settled`;

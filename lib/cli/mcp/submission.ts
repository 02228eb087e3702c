import { once } from '../../base/index.ts';
import { readAllow } from '../../jobs/allow.ts';
import { parseMessage } from '../../jobs/message/message.ts';
import { openQueue } from '../../jobs/queue/open-queue.ts';
import type { Submission } from '../../report/mcp/context.ts';
import { readSyncSettings } from '../../settings.ts';
import { faultsOfJobs, readJobs } from '../jobs/read-jobs.ts';
import { sendJobs } from '../jobs/send-jobs.ts';
import { settingFor } from '../options/from-settings.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { currentRate } from '../texts/current-rate.ts';

/** How the server puts jobs on the queue: as `submit` does. */
export function createSubmission({ environment, err }: Terminal): Submission {
  const settings = () => readSyncSettings(environment);
  const queueUrl = () => settingFor('submit', settings(), 'SYNC_QUEUE_URL');
  const queue = once(() => openQueue(queueUrl(), environment));
  return {
    async check(lines) {
      const allow = readAllow(settings().SYNC_ALLOW);
      const read = await readJobs(lines, allow);
      if (read.kind === 'faults') return read;
      const faults = [...unnamed(lines), ...(await faultsOfJobs(read.jobs))];
      return faults.length === 0 ? read : { kind: 'faults', faults };
    },
    refuseIfNone: () => void queueUrl(),
    send: async (jobs, signal) =>
      sendJobs(jobs, {
        queue: await queue(),
        signal,
        onAway: ({ message }) => err(`platform-sync mcp: the queue is away (${message}): trying again`),
      }),
    // What a job costs is known without it.
    rate: () => currentRate(environment).catch(() => undefined),
  };
}

/** The jobs that would get an id here: if an answer is lost, nobody could send the same job again. */
function unnamed(lines: string): readonly string[] {
  return lines.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const read = parseMessage(line.replace(/^\uFEFF/, ''), { messageId: 'none', allow: {} });
    return read.kind === 'job' && !read.isNamed
      ? [`line ${index + 1}: id: expected one, by which a ${read.job.type} runs only once, got nothing`]
      : [];
  });
}

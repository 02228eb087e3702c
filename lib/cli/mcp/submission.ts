import { once } from '../../base/index.ts';
import { readAllow } from '../../jobs/allow.ts';
import { checkJobFile } from '../../jobs/file/job-file.ts';
import { openQueue } from '../../jobs/queue/open-queue.ts';
import type { Submission } from '../../report/mcp/context.ts';
import { needed, readSyncSettings } from '../../settings.ts';
import { sendJobs } from '../jobs/send-jobs.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { currentRate } from '../texts/current-rate.ts';

/** How the server puts jobs on the queue: as `submit` does. */
export function createSubmission({ environment, err }: Terminal): Submission {
  const settings = () => readSyncSettings(environment);
  const queueUrl = () => needed(settings(), 'SYNC_QUEUE_URL');
  const queue = once(() => openQueue(queueUrl(), environment));
  return {
    async check(text) {
      const allow = readAllow(settings().SYNC_ALLOW);
      // If a response is lost, nobody could send a job again whose id was made here.
      const checked = await checkJobFile({ file: 'lines', text, ids: 'required', allow });
      if ('faults' in checked) return { faults: checked.faults };
      return await Array.fromAsync(checked.rows(), ({ id, body }) => ({ id, text: body }));
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

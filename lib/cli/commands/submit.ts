import type { Queue } from '../../jobs/queue/queue.ts';
import { readSyncSettings } from '../../settings.ts';
import type { AddCommand } from '../command.ts';
import { readText } from '../options.ts';
import { settingFor } from '../setting-for.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

type SubmitFlags = { readonly dryRun?: true; readonly json?: true };

/** `submit JOBS.ndjson`: puts jobs on the queue, one per line; all of them are checked before any is sent. */
export const addSubmit: AddCommand = (program, terminal, finish) => {
  program
    .command('submit')
    .description('Put jobs on the queue; every line is checked before any is sent.')
    .argument('<file>', 'the jobs as JSON, one per line; - for standard input')
    .option('--dry-run', 'check everything, formulas too, but send nothing')
    .option('--json', 'print how many were sent, and their ids, as one JSON value')
    .action(async (file: string, flags: SubmitFlags) => finish(await submit(file, flags, terminal)));
};

async function submit(file: string, flags: SubmitFlags, terminal: Terminal): Promise<number> {
  const settings = readSyncSettings(terminal.environment);
  const queueUrl = flags.dryRun ? undefined : settingFor('submit', settings, 'SYNC_QUEUE_URL');
  const { allowOf, openQueue } = await import('../open-jobs.ts');
  const { faultsOfJobs, readJobs } = await import('../read-jobs.ts');
  const read = await readJobs(await readText(file, terminal), allowOf(settings.SYNC_ALLOW));
  if (read.kind === 'faults') {
    const faults = read.faults.map((fault) => `  ${fault}`).join('\n');
    throw new UsageError(`${file}: expected one job per line; nothing was sent:\n${faults}`);
  }
  if (queueUrl === undefined) {
    const invalid = await faultsOfJobs(read.jobs);
    if (invalid.length > 0) {
      const faults = invalid.map((fault) => `  ${fault}`).join('\n');
      throw new UsageError(`${file}: expected jobs that the platform can do; nothing was sent:\n${faults}`);
    }
    const ids = read.jobs.map(({ id }) => id);
    if (flags.json) terminal.out(JSON.stringify({ dryRun: true, sent: 0, ids }, undefined, 2));
    else terminal.out(`${jobs(ids.length)} would be sent; nothing was sent`);
    return exitCodes.done;
  }
  return send(read.jobs, await openQueue(queueUrl, terminal.environment), flags, terminal);
}

async function send(
  all: readonly { readonly id: string; readonly text: string }[],
  queue: Pick<Queue, 'send'>,
  flags: SubmitFlags,
  terminal: Terminal,
): Promise<number> {
  const { sendJobs } = await import('../send-jobs.ts');
  const onAway = ({ message }: Error) =>
    terminal.err(`platform-sync: the queue is away (${message}): trying again for 5 minutes; Ctrl-C ends it`);
  const { ids, notSent, error } = await sendJobs(all, { queue, signal: terminal.signal, onAway });
  const sent = ids.length;
  terminal.out(
    flags.json
      ? JSON.stringify({ sent, ids, notSent }, undefined, 2)
      : [
          ...[`${jobs(sent)} sent`, ...ids.map((id) => `  ${id}`)],
          ...(notSent.length === 0
            ? []
            : [`${jobs(notSent.length)} not certainly sent`, ...notSent.map((id) => `  ${id}`)]),
        ].join('\n'),
  );
  if (error === undefined) return exitCodes.done;
  terminal.err(
    `platform-sync: ${sent} of ${jobs(all.length)} are certainly on the queue: those that are listed as sent. Submit only the others again; a job that has an id, or is neither a run-function nor an update-formula, can be submitted again in any case and still runs only once`,
  );
  throw error;
}

const jobs = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'job' : 'jobs'}`;

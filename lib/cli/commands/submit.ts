import { readAllow } from '../../jobs/allow.ts';
import { openQueue } from '../../jobs/queue/open-queue.ts';
import type { Queue } from '../../jobs/queue/queue.ts';
import { readSyncSettings } from '../../settings.ts';
import { warnOfThisHost } from '../../table/index.ts';
import type { FlagsOf, Run } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { checkedJobs, fileOfJobs } from '../jobs/job-files.ts';
import { faultsOfJobs, type ReadJob, readJobs } from '../jobs/read-jobs.ts';
import { sendJobs } from '../jobs/send-jobs.ts';
import { settingFor } from '../options/from-settings.ts';
import { readText } from '../options/options.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { counted, inJson } from '../terminal/words.ts';
import { checkFile } from '../texts/score-files.ts';

type SubmitFlags = FlagsOf<'submit'>;

/** Puts jobs on the queue, one a line or a row. All of them are checked before any is sent. */
export default (async ([given], flags, terminal) => {
  const file = fileOfJobs('submit', given, flags);
  const { environment, err } = terminal;
  const settings = readSyncSettings(environment);
  const queueUrl = flags.dryRun ? undefined : settingFor('submit', settings, 'SYNC_QUEUE_URL');
  const jobs = await (flags.template === undefined ? jobsOfLines : jobsOfRows)({ ...flags, file }, terminal);
  if (queueUrl === undefined) return showDryRun(jobs, flags, terminal);
  warnOfThisHost(environment, err);
  return send(jobs, await openQueue(queueUrl, environment), flags, terminal);
}) satisfies Run<'submit'>;

type FileFlags = SubmitFlags & { readonly file: string };

/** Throws `UsageError` with every fault. */
async function jobsOfLines({ file, dryRun }: FileFlags, terminal: Terminal): Promise<readonly ReadJob[]> {
  const allow = readAllow(readSyncSettings(terminal.environment).SYNC_ALLOW);
  const read = await readJobs(await readText(file, terminal), allow);
  const refused = (expected: string, faults: readonly string[]) =>
    new UsageError(
      `${file}: expected ${expected}; nothing was sent:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
  if (read.kind === 'faults') throw refused('one job per line', read.faults);
  const invalid = dryRun ? await faultsOfJobs(read.jobs) : [];
  if (invalid.length > 0) throw refused('jobs that the platform can do', invalid);
  return read.jobs;
}

/** The same of a CSV. */
async function jobsOfRows(flags: FileFlags, terminal: Terminal): Promise<readonly ReadJob[]> {
  await checkFile(flags.file);
  const { rows } = await checkedJobs(flags, { undone: 'sent', leavesFormulas: !flags.dryRun }, terminal);
  const jobs: ReadJob[] = [];
  for await (const { id, body: text } of rows()) jobs.push({ id, text });
  return jobs;
}

/** How many jobs a dry run shows. */
const SHOWN = 3;

function showDryRun(all: readonly ReadJob[], { json, fromCsv }: SubmitFlags, { out }: Terminal): number {
  const ids = all.map(({ id }) => id);
  const first = all.slice(0, SHOWN).map(({ text }) => text);
  if (json)
    out(`${inJson({ dryRun: true, sent: 0, ids }).slice(0, -2)},\n  "first": [${first.join(', ')}]\n}`);
  else {
    if (fromCsv !== undefined) for (const text of first) out(shown(text));
    if (fromCsv !== undefined && all.length > SHOWN) out(`and ${counted(all.length - SHOWN, 'job')} more`);
    out(`${counted(ids.length, 'job')} would be sent; nothing was sent`);
  }
  return exitCodes.done;
}

async function send(
  all: readonly { readonly id: string; readonly text: string }[],
  queue: Pick<Queue, 'send'>,
  flags: SubmitFlags,
  terminal: Terminal,
): Promise<number> {
  const onAway = ({ message }: Error) =>
    terminal.err(`platform-sync: the queue is away (${message}): trying again for 5 minutes; Ctrl-C ends it`);
  const { ids, notSent, error } = await sendJobs(all, { queue, signal: terminal.signal, onAway });
  const sent = ids.length;
  terminal.out(
    flags.json
      ? inJson({ sent, ids, notSent })
      : [
          ...[`${counted(sent, 'job')} sent`, ...ids.map((id) => `  ${id}`)],
          ...(notSent.length === 0
            ? []
            : [`${counted(notSent.length, 'job')} not certainly sent`, ...notSent.map((id) => `  ${id}`)]),
        ].join('\n'),
  );
  if (error === undefined) return exitCodes.done;
  terminal.err(
    `platform-sync: ${sent} of ${counted(all.length, 'job')} are certainly on the queue: those that are listed as sent. Submit only the others again; a job that has an id, or is neither a run-function nor an update-formula, can be submitted again in any case and still runs only once`,
  );
  throw error;
}

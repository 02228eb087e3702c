import { parseJson } from '../../base/json/index.ts';
import { countEndedJobs, type EndedCounts, submitJobs } from '../../jobs/index.ts';
import { warnOfUnsharedTable } from '../../locations.ts';
import { type Money, maxCostWords } from '../../prices.ts';
import { needed, readSyncSettings } from '../../settings.ts';

import type { OddRows } from '../../text/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { checkedJobs, dryRunWords, endedFacts, fileOfJobs, maxCost, setWords } from '../jobs/job-files.ts';
import { checkFile, readText } from '../options/files.ts';
import {
  type CommandResult,
  counted,
  printCommandResult,
  shown,
  type Terminal,
} from '../terminal/terminal.ts';

/** Puts jobs on the queue: one for each line or row. All of them are checked before any is sent. */
export default (async ([given], flags, terminal) => {
  const file = fileOfJobs('submit', given, flags);
  const { environment, err } = terminal;
  const settings = readSyncSettings(environment);
  if (!flags.dryRun) needed(settings, 'SYNC_QUEUE_URL');
  const { jobs, checked } = await jobsOf(file, flags, terminal);
  const isBuilt = flags.fromCsv !== undefined;
  const before = isBuilt || flags.name !== undefined ? await countEndedJobs(checked, environment) : undefined;
  const about = before === undefined ? [] : setWords(flags.name, before);
  const cost = maxCost(checked, before, terminal);
  if (flags.dryRun) return dryRun(jobs, { odd: checked.odd, isBuilt, before, about, cost });
  for (const line of about) err(shown(`${file}: ${line}`));
  warnOfUnsharedTable(environment, err);
  return sendAll(jobs, { ...flags, odd: checked.odd }, terminal);
}) satisfies Run<'submit'>;

/** A job that has been checked: its id, and its message as JSON. */
type NamedJob = { readonly id: string; readonly body: string };

/** The jobs from the lines or rows. Throws `UsageError` with every fault. */
async function jobsOf(file: string, flags: FlagsOf<'submit'>, terminal: Terminal) {
  const { template } = flags;
  if (template !== undefined) await checkFile(file);
  const text = template === undefined ? await readText(file, terminal, flags) : undefined;
  const checks = { undone: 'sent', ids: 'new' } as const;
  const checked = await checkedJobs({ ...flags, file, text }, checks, terminal);
  return { jobs: await Array.fromAsync(checked.rows()), checked };
}

/** Maximum jobs that a dry run prints. */
const MAX_PRINTED_JOBS = 3;

function dryRun(
  all: readonly NamedJob[],
  options: {
    readonly odd: OddRows;
    readonly isBuilt: boolean;
    readonly before: EndedCounts | undefined;
    readonly about: readonly string[];
    readonly cost: Money | undefined;
  },
): CommandResult {
  const { odd, isBuilt, before, about, cost } = options;
  const ids = all.map(({ id }) => id);
  const bodies = all.slice(0, MAX_PRINTED_JOBS).map(({ body }) => body);
  const first = bodies.map((body) => parseJson(body));
  return {
    json: { dryRun: true, sent: 0, ids, ...odd, ...endedFacts(before), cost, first },
    words: [
      ...dryRunWords(all.length, isBuilt ? bodies : [], 'job', 'sent'),
      ...maxCostWords(cost),
      ...about,
    ],
  };
}

/** Puts jobs on the queue, and returns those that were sent. If some could not be sent, prints them and throws. */
export async function sendAll(
  all: readonly NamedJob[],
  { json, set, odd }: { readonly json?: true; readonly set?: string; readonly odd: OddRows },
  terminal: Terminal,
): Promise<CommandResult> {
  const { environment } = terminal;
  const onUnavailable = ({ message }: Error) =>
    terminal.err(
      `platform-sync: the queue is unavailable (${message}): trying again for 5 minutes; Ctrl-C stops`,
    );
  const { ids, notSent, error } = await submitJobs(all, {
    environment,
    signal: terminal.signal,
    onUnavailable,
  });
  const sent = ids.length;
  const listed = (title: string, of: readonly string[]) => [title, ...of.map((id) => `  ${id}`)];
  const unsent = listed(`${counted(notSent.length, 'job')} may not have been sent`, notSent);
  const found = {
    json: { set, sent, ids, ...odd, notSent },
    words: [...listed(`${counted(sent, 'job')} sent`, ids), ...(notSent.length === 0 ? [] : unsent)],
  };
  if (error === undefined) return found;
  printCommandResult(found, json, terminal);
  terminal.err(
    `platform-sync: ${sent} of ${counted(all.length, 'job')} are on the queue: those that are listed as sent. Submit only the other jobs again. Jobs that have an id, and jobs of other types than run-function and update-formula, run only once even if you submit them twice`,
  );
  throw error;
}

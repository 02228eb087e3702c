import type { JobFile } from '../../jobs/file/job-file.ts';
import { runRows } from '../../jobs/file/run-rows.ts';
import type { JobStorage } from '../../jobs/job-storage.ts';
import { senderHere } from '../../jobs/queue/open-queue.ts';
import { writeRunOutput } from '../../jobs/results/run-output.ts';
import { readSettings } from '../../settings.ts';
import type { FlagsOf, Run } from '../commands.ts';
import { checkedJobs, dryRunWords, fileOfJobs } from '../jobs/job-files.ts';
import { runJobsHere } from '../jobs/work-here.ts';
import { commandLine } from '../options/command-lines.ts';
import { checkedOutput, checkFile } from '../options/files.ts';
import { counted, type Found, shown, type Terminal } from '../terminal/terminal.ts';

/** `file`: the jobs, or with a template the rows that they are made of. */
type RunFlags = FlagsOf<'run'> & { readonly file: string };

/** Runs each job of a file to its one outcome, in this process. */
export default (async ([given], typed, terminal) => {
  const flags = { ...typed, file: fileOfJobs('run', given, typed) };
  const { file, output, concurrency } = flags;
  await checkFile(file);
  const format = await checkedOutput(file, output);
  const jobs = await checkedJobs(flags, { undone: 'run' }, terminal);
  if (flags.dryRun) {
    const first = flags.template === undefined ? [] : jobs.first;
    return {
      json: { file, rows: jobs.count, blank: jobs.blank, dryRun: true },
      words: dryRunWords(jobs.count, first, 'row', 'run'),
    };
  }
  const again = `to run the rest: ${commandOf(flags)}`;
  return runAll(
    {
      ...{
        jobs,
        name: file,
        noun: 'row',
        facts: { file, output: output ?? null, blank: jobs.blank },
        concurrency,
        again,
      },
      async finish(storage) {
        if (output === undefined || format === undefined) return [];
        terminal.err(shown(`writing ${output}`));
        await writeRunOutput(jobs, { ...storage, file: output, format });
        return [`output: ${output}`];
      },
    },
    terminal,
  );
}) satisfies Run<'run'>;

type ToRun = {
  readonly jobs: JobFile;
  readonly concurrency?: number | undefined;
  /** What the jobs are called, and one of them. */
  readonly name: string;
  readonly noun: string;
  /** How the rest is run, in words. */
  readonly again: string;
  /** For `--json`. */
  readonly facts: object;
  /** Called in the end, after Ctrl-C too: what has ended is worth a file. Returns lines to print. */
  readonly finish?: (storage: JobStorage) => Promise<readonly string[]>;
};

/** All rows were checked before they ran, so this is what a message of theirs is refused for. */
const OTHER_CONTENT = { kind: 'other-content', message: 'another job has this id, with other content' };

/** Runs jobs in this process until each has ended, or Ctrl-C, and returns how they ended. */
export async function runAll(toRun: ToRun, terminal: Terminal): Promise<Found> {
  const { jobs, name, noun, again, facts, finish } = toRun;
  const { count: rows } = jobs;
  const settings = readSettings(terminal.environment);
  const { counts, notDone, storage, tokenRefusal } = await runJobsHere(
    {
      ...{ name: 'run', settings, of: rows, concurrency: toRun.concurrency },
      ...{ isEndless: false, endsWithToken: true, refusal: OTHER_CONTENT },
      work: ({ onEnded, ...parts }) =>
        runRows(jobs.rows(), {
          ...{ ...parts, sender: senderHere() },
          onEndedElsewhere: ({ id, outcome }) => onEnded({ id, ...outcome }),
        }),
    },
    terminal,
  );
  const written = (await finish?.(storage)) ?? [];
  const { done, failed, unknown } = counts;
  const left = rows - done - failed - unknown;
  const words = `${name}: ${counted(rows, noun)}: ${done} done, ${failed} failed, ${unknown} unknown, ${left} left`;
  if (left > 0) terminal.err(shown(`stopped; ${counted(left, noun)} left; ${again}`));
  if (tokenRefusal !== undefined) terminal.err(shown(tokenRefusal));
  const ended = done === rows ? 'done' : 'incomplete';
  return {
    json: { ...facts, rows, done, failed, unknown, left, notDone },
    words: [words, ...notDoneLines(notDone), ...written],
    ended: tokenRefusal === undefined ? ended : 'failed',
  };
}

/** The first of the jobs that are not done, and what to do about the first of each kind. */
function notDoneLines(notDone: Awaited<ReturnType<typeof runJobsHere>>['notDone']): readonly string[] {
  // The same words about another job say nothing new.
  const kinds = new Map(notDone.toReversed().map(({ advice }) => [advice.split(': ')[0], advice]));
  const advice = [...kinds.values()].reverse().map((line) => `  ${line}`);
  return [...notDone.map(({ id, status, reason }) => `  ${status}: ${id}: ${reason}`), ...advice];
}

/** The command line that runs what is left: the ledger says what has ended. */
const commandOf = ({ file, template, encoding, separator, output, concurrency }: RunFlags): string =>
  template === undefined
    ? commandLine(['run', file], { encoding, separator, output, concurrency })
    : commandLine(['run'], { fromCsv: file, template, encoding, separator, output, concurrency });

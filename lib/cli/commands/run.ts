import { countEndedJobs, type JobFile, OTHER_CONTENT, type openLocalWorker } from '../../jobs/index.ts';
import { costWords, maxCostWords, moneyFor } from '../../prices.ts';
import type { Session } from '../../session.ts';
import { readSettings, type Settings } from '../../settings.ts';
import type { FlagsOf, Run } from '../command.ts';
import {
  checkedJobs,
  dryRunWords,
  endedFacts,
  endedWords,
  fileOfJobs,
  maxCost,
  setWords,
} from '../jobs/job-files.ts';
import { runJobsHere } from '../jobs/work-here.ts';
import { commandLine } from '../options/command-lines.ts';
import { checkedOutput, checkFile, encodingNote } from '../options/files.ts';
import { type CommandResult, counted, shown, type Terminal } from '../terminal/terminal.ts';

/** Runs each job of a file to its final outcome, in this process. */
export default (async ([given], typed, terminal) => {
  const flags = { ...typed, file: fileOfJobs('run', given, typed) };
  const { file, output, concurrency } = flags;
  await checkFile(file);
  const format = await checkedOutput(file, output);
  const jobs = await checkedJobs(flags, { undone: 'run' }, terminal);
  if (flags.dryRun) {
    const first = flags.template === undefined ? [] : jobs.first;
    const before = await countEndedJobs(jobs, terminal.environment);
    const cost = maxCost(jobs, before, terminal);
    return {
      json: { file, rows: jobs.count, ...jobs.odd, ...endedFacts(before), cost, dryRun: true },
      words: [
        ...dryRunWords(jobs.count - (before?.ended ?? 0), first, 'row', 'run'),
        ...maxCostWords(cost),
        ...setWords(flags.name, before),
      ],
    };
  }
  for (const line of setWords(flags.name, undefined)) terminal.err(shown(`${file}: ${line}`));
  const again = `to run the rest: ${commandOf(flags)}`;
  return runAll(
    {
      jobs,
      name: file,
      noun: 'row',
      facts: { file, output: output ?? null, ...jobs.odd },
      concurrency,
      again,
      async finish(worker) {
        if (output === undefined || format === undefined) return [];
        terminal.err(shown(`writing ${output}`));
        const { csvFor, csvSafe } = flags;
        const to = { file: output, sourceFile: file, format, csvFor, csvSafe };
        const written = await worker.writeOutput(jobs, to);
        return [`output: ${output}${encodingNote(written, jobs.encoding)}`];
      },
    },
    terminal,
  );
}) satisfies Run<'run'>;

/** The error of a refused message. All rows have been checked, so this is the only possible reason. */
const REFUSED = { kind: 'other-content', message: OTHER_CONTENT };

/** Runs jobs in this process until each has ended, or until Ctrl-C. Returns the counts of their outcomes. */
export async function runAll(
  toRun: {
    readonly jobs: JobFile;
    readonly concurrency?: number | undefined;
    /** The name of the set of jobs, and the noun for one job. */
    readonly name: string;
    readonly noun: string;
    /** How to run the remaining jobs after a stop, in words. */
    readonly again: string;
    /** More fields for `--json`. */
    readonly facts: object;
    /** Stops after this many formulas in a row were stored as INVALID. Default: never. */
    readonly maxInvalid?: number;
    /** Called at the end, even after Ctrl-C, to write the jobs that have ended. Returns lines to print. */
    readonly finish?: (worker: Awaited<ReturnType<typeof openLocalWorker>>) => Promise<readonly string[]>;
  },
  terminal: Terminal,
): Promise<CommandResult> {
  const { jobs, name, noun, again, facts, finish } = toRun;
  const { count: rows } = jobs;
  const settings = readSettings(terminal.environment);
  const {
    counts,
    notDone,
    back: before,
    worker,
    paid,
    tokenRefusal,
    isInvalid,
  } = await runJobsHere(
    {
      name: 'run',
      settings,
      of: rows,
      concurrency: toRun.concurrency,
      isEndless: false,
      endsWithToken: true,
      refusal: REFUSED,
      maxInvalid: toRun.maxInvalid,
      work: (local) => local.runFile(jobs),
    },
    terminal,
  );
  const written = (await finish?.(worker)) ?? [];
  const { done, failed, unknown } = counts;
  const left = rows - done - failed - unknown;
  const doneNow = done - before.done;
  const notDoneNow = `${failed - before.failed} failed, ${unknown - before.unknown} unknown, ${left} left`;
  const words = `${name}: ${counted(rows, noun)}: ${doneNow} done now, ${notDoneNow}; ${endedWords(before)}`;
  if (left > 0) terminal.err(shown(`stopped; ${counted(left, noun)} left; ${again}`));
  if (isInvalid)
    terminal.err(
      `the platform stored ${toRun.maxInvalid} formulas in a row as INVALID: check them before you set the rest`,
    );
  if (tokenRefusal !== undefined) terminal.err(shown(tokenRefusal));
  const cost = costNow(settings.PLATFORM_PRICES, jobs, paid);
  const ended = done === rows ? 'done' : 'incomplete';
  return {
    json: { ...facts, rows, done, doneNow, ...endedFacts(before), failed, unknown, left, cost, notDone },
    words: [words, ...costWords(cost), ...notDoneLines(notDone), ...written],
    ended: tokenRefusal === undefined ? ended : 'failed',
  };
}

/** What the calls of this process cost; 0 if no job needed a call. */
function costNow(prices: Settings['PLATFORM_PRICES'], { calls }: JobFile, paid: Session['paid']) {
  const none = Object.fromEntries(Object.keys(calls).map((type) => [type, 0]));
  return moneyFor(prices, { ...none, ...paid.calls }, paid.unknown);
}

/** Lines about the first jobs that are not done, with advice for the first one of each kind. */
function notDoneLines(notDone: Awaited<ReturnType<typeof runJobsHere>>['notDone']): readonly string[] {
  // Each kind of advice is printed once.
  const kinds = new Map(notDone.toReversed().map(({ advice }) => [advice.split(': ')[0], advice]));
  const advice = [...kinds.values()].reverse().map((line) => `  ${line}`);
  return [...notDone.map(({ id, status, reason }) => `  ${status}: ${id}: ${reason}`), ...advice];
}

/** The command line that runs the remaining jobs: the same command again, since the ledger knows which have ended. */
function commandOf(
  /** `file`: the file of jobs, or with a template the CSV of rows. */
  {
    file,
    template,
    name,
    encoding,
    separator,
    wholeRows,
    output,
    concurrency,
    undo = true,
    csvFor,
    csvSafe,
  }: FlagsOf<'run'> & { readonly file: string },
): string {
  const word = undo ? {} : ({ noUndo: true } as const);
  const options = { name, encoding, separator, wholeRows, output, csvFor, csvSafe, concurrency, ...word };
  return template === undefined
    ? commandLine(['run', file], options)
    : commandLine(['run'], { fromCsv: file, template, ...options });
}

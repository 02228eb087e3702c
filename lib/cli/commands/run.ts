import { sleep } from '../../base/index.ts';
import type { JobFile } from '../../jobs/file/job-file.ts';
import { runRows } from '../../jobs/file/run-rows.ts';
import type { EndedJob } from '../../jobs/handle-message.ts';
import { adviceWords } from '../../jobs/job-advice.ts';
import { openJobStorage } from '../../jobs/job-storage.ts';
import type { Outcome } from '../../jobs/ledger/job-row.ts';
import { openWorker, renewedLease } from '../../jobs/open-worker.ts';
import { senderHere } from '../../jobs/queue/open-queue.ts';
import { writeRunOutput } from '../../jobs/results/run-output.ts';
import { openSession } from '../../session.ts';
import { readSettings } from '../../settings.ts';
import type { FlagsOf, Run } from '../commands.ts';
import { checkedJobs, fileOfJobs } from '../jobs/job-files.ts';
import { createTokenWatch } from '../jobs/token-watch.ts';
import { commandLine } from '../options/command-lines.ts';
import { settingFor } from '../options/from-settings.ts';
import { createProgress } from '../terminal/progress.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { counted, inJson } from '../terminal/words.ts';
import { checkedOutput, checkFile } from '../texts/score-files.ts';
import { tokenIn } from './work.ts';

/** `file`: the jobs, or with a template the rows that they are made of. */
type RunFlags = FlagsOf<'run'> & { readonly file: string };

/** Runs each job of a file to its one outcome, in this process. */
export default (async ([given], typed, terminal) => {
  const flags = { ...typed, file: fileOfJobs('run', given, typed) };
  await checkFile(flags.file);
  const format = await checkedOutput(flags.file, flags.output);
  const jobs = await checkedJobs(flags, { undone: 'run' }, terminal);
  if (flags.dryRun) return showDryRun(jobs, flags, terminal);
  const { counts, fault, storage } = await runAll(jobs, flags, terminal);
  // After Ctrl-C too: what has ended is worth a file.
  if (flags.output !== undefined && format !== undefined) {
    terminal.err(shown(`writing ${flags.output}`));
    await writeRunOutput(jobs, { ...storage, file: flags.output, format });
  }
  show(counts, jobs, flags, terminal);
  if (fault !== undefined) {
    terminal.err(shown(fault.words));
    return fault.code;
  }
  return counts.done === jobs.count ? exitCodes.done : exitCodes.incomplete;
}) satisfies Run<'run'>;

/** Runs jobs in this process until each has ended, or Ctrl-C. `fault`: what stopped it before. */
export async function runAll(
  jobs: JobFile,
  { concurrency }: Pick<RunFlags, 'concurrency'>,
  terminal: Terminal,
) {
  const settings = readSettings(terminal.environment);
  settingFor('run', settings, 'SYNC_TABLE');
  const token = createTokenWatch(tokenIn(settings));
  const session = openSession({ ...terminal, ...token.hooks });
  const storage = await openJobStorage(session);
  const tally = createTally(jobs.count);
  const progress = createProgress('run', {
    ...terminal,
    callCounts: session.callCounts,
    nouns: ['rows', 'calls'],
    now: () => performance.now(),
  });
  const onEnded = (job: Pick<EndedJob, 'id' | 'status' | 'error'>) => {
    tally.add(job);
    progress.update(tally.progress());
  };
  progress.update(tally.progress());
  const worker = await openWorker(session, storage, {
    onEnded,
    onRefused: (id) => onEnded({ id, status: 'failed', error: OTHER_CONTENT }),
  });
  const signal = AbortSignal.any([terminal.signal, token.signal]);
  try {
    await runRows(jobs.rows(), {
      ...{ worker, signal, sleep, sender: senderHere() },
      lease: renewedLease(storage.ledger, { stop: signal }),
      concurrency: concurrency ?? settings.PLATFORM_CONCURRENCY,
      onEndedElsewhere: ({ id, outcome }) => onEnded({ id, ...outcome }),
    });
  } finally {
    progress.end();
  }
  return { counts: tally.counts(), fault: token.fault(), storage };
}

/** All rows were checked before they ran, so this is what a message of theirs is refused for. */
const OTHER_CONTENT = { kind: 'other-content', message: 'another job has this id, with other content' };

/** How many of the jobs that are not done are named, of each kind. */
const MOST_NAMED = 20;

type NotDone = { readonly id: string; readonly status: 'failed' | 'unknown'; readonly reason: string };

function createTally(rows: number) {
  const ended = { done: 0, failed: 0, unknown: 0 } satisfies Record<Outcome['status'], number>;
  const notDone: NotDone[] = [];
  const left = () => rows - ended.done - ended.failed - ended.unknown;
  return {
    add({ id, status, error }: Pick<EndedJob, 'id' | 'status' | 'error'>) {
      ended[status] += 1;
      if (status !== 'done' && ended[status] <= MOST_NAMED)
        notDone.push({ id, status, reason: error?.message ?? '' });
    },
    progress: () => ({
      records: rows - left(),
      total: rows,
      also: [`${ended.failed + ended.unknown} failed`, `${left()} left`],
    }),
    counts: () => ({ ...ended, left: left(), notDone }),
  };
}

type Counts = ReturnType<ReturnType<typeof createTally>['counts']>;

function show(counts: Counts, { count }: JobFile, flags: RunFlags, terminal: Terminal): void {
  const { done, failed, unknown, left, notDone } = counts;
  const { file, output, json } = flags;
  if (json)
    terminal.out(inJson({ file, rows: count, done, failed, unknown, left, output: output ?? null, notDone }));
  else {
    terminal.out(
      shown(
        `${file}: ${counted(count, 'row')}: ${done} done, ${failed} failed, ${unknown} unknown, ${left} left`,
      ),
    );
    for (const line of notDoneLines(counts)) terminal.out(shown(line));
    if (output !== undefined) terminal.out(shown(`output: ${output}`));
  }
  if (left > 0)
    terminal.err(shown(`stopped; ${counted(left, 'row')} left; to run the rest: ${commandOf(flags)}`));
}

/** The first of the jobs that are not done, and what to do about them. */
export function notDoneLines({ notDone }: Pick<Counts, 'notDone'>): readonly string[] {
  const advice = (['failed', 'unknown'] as const).flatMap((status) => {
    const first = notDone.find((each) => each.status === status);
    return first === undefined ? [] : [`  ${adviceWords(first.id, status)}`];
  });
  return [...notDone.map(({ id, status, reason }) => `  ${status}: ${id}: ${reason}`), ...advice];
}

function showDryRun(
  { count, first }: JobFile,
  { file, json, template }: RunFlags,
  { out }: Terminal,
): number {
  if (json) {
    out(inJson({ file, rows: count, dryRun: true }));
    return exitCodes.done;
  }
  if (template !== undefined) for (const text of first) out(shown(text));
  if (template !== undefined && count > first.length) out(`and ${counted(count - first.length, 'row')} more`);
  out(`${counted(count, 'row')} would be run; nothing was run`);
  return exitCodes.done;
}

/** The command line that runs what is left: the ledger says what has ended. */
const commandOf = ({ file, template, encoding, separator, output, concurrency }: RunFlags): string =>
  template === undefined
    ? commandLine(['run', file], { encoding, separator, output, concurrency })
    : commandLine(['run'], { fromCsv: file, template, encoding, separator, output, concurrency });

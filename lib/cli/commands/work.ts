import type { JobFinished } from '../../jobs/handle-message.ts';
import type { Queue } from '../../jobs/queue/queue.ts';
import type { Job } from '../../jobs/types/job-types.ts';
import type { WorkCounts } from '../../jobs/work.ts';
import type { AddCommand } from '../command.ts';
import { numberOption } from '../options.ts';
import { settingFor } from '../setting-for.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';

type WorkFlags = {
  readonly drain?: true;
  readonly concurrency?: number;
  /** False for `--no-ledger`. */
  readonly ledger: boolean;
  readonly json?: true;
};

/**
 * `work`: consumes the queue here, as the deployed worker would, until Ctrl-C or, with `--drain`, until it is empty.
 */
export const addWork: AddCommand = (program, terminal, finish) => {
  program
    .command('work')
    .description(
      'Run the jobs on the queue in this process; Ctrl-C waits for requests that have left, and puts the other jobs back.',
    )
    .option('--drain', 'stop when the queue is empty')
    .option(
      '--concurrency <n>',
      'the most jobs to run at once (default: PLATFORM_CONCURRENCY)',
      numberOption(1, 1_000),
    )
    .option(
      '--no-ledger',
      'without SYNC_TABLE, run functions and update formulas all the same, although a message may run twice',
    )
    .option('--json', 'print the counts as one JSON value')
    .action(async (flags: WorkFlags) => finish(await consume(flags, terminal)));
};

/** How long a received message is hidden from other workers, at a time. */
const VISIBILITY_SECONDS = 60;

async function consume(flags: WorkFlags, terminal: Terminal): Promise<number> {
  const { openSession } = await import('../../session.ts');
  const session = openSession(terminal);
  const { settings } = session;
  const queueUrl = settingFor('work', settings, 'SYNC_QUEUE_URL');
  const { asSettingsError, openQueue } = await import('../open-jobs.ts');
  const { openJobStorage } = await import('../../jobs/job-storage.ts');
  const { openWorker, renewedLease } = await import('../../jobs/open-worker.ts');
  const { work } = await import('../../jobs/work.ts');
  const { sleep } = await import('../../time/sleep.ts');
  const queue = await openQueue(queueUrl, terminal.environment);
  const storage = await openJobStorage(session);
  const { ended, refused, onFinished, onRefused } = createEnds();
  const hasLedger = settings.SYNC_TABLE !== undefined || !flags.ledger;
  const { needsLedger } = await import('../../jobs/types/job-types.ts');
  const left = createLeftJobs(needsLedger);
  const worker = await openWorker(session, storage, {
    onFinished,
    ...(hasLedger ? {} : { takes: left.takes }),
  }).catch((error: unknown) => {
    throw asSettingsError(error);
  });
  if (settings.SYNC_TABLE === undefined) terminal.err(hasLedger ? WITHOUT_LEDGER : WITHOUT_TABLE);
  const signal = AbortSignal.any([terminal.signal, left.signal]);
  using _ = everyFewSeconds(progressReporter(ended, queue, terminal.err));
  const counts = await work({
    worker,
    queue,
    lease: renewedLease(storage.ledger, { stop: signal }),
    concurrency: flags.concurrency ?? settings.PLATFORM_CONCURRENCY,
    visibilitySeconds: VISIBILITY_SECONDS,
    drain: flags.drain === true,
    signal,
    polls: terminal.polls,
    sleep,
    onRefused,
  });
  if (terminal.signal.aborted)
    terminal.err('stopped as requested; jobs that were not started are still on the queue');
  const code = show(summarize(counts, ended, refused), flags, terminal);
  const fault = left.fault();
  if (fault === undefined) return code;
  terminal.err(shown(fault));
  return exitCodes.usage;
}

const IN_MEMORY = 'platform-sync: SYNC_TABLE is not set: the ledger is in the memory of this process';
const WITHOUT_LEDGER = `${IN_MEMORY}, so another process may run the same jobs again`;
const WITHOUT_TABLE = `${IN_MEMORY}, so functions and updates of formulas are left on the queue`;

/**
 * Leaves alone the jobs that need a ledger, and stops at the first: it would be received again and again, and meanwhile
 * be hidden from a worker that has a table.
 */
function createLeftJobs(needsLedger: (job: Job) => boolean) {
  const stop = new AbortController();
  let left: string | undefined;
  return {
    signal: stop.signal,
    takes(job: Job): boolean {
      if (!needsLedger(job)) return true;
      left ??= `${job.type} ${job.id}`;
      stop.abort();
      return false;
    },
    /** Undefined if there was none. */
    fault: () =>
      left === undefined
        ? undefined
        : `platform-sync: work: expected SYNC_TABLE, the DynamoDB table that holds the ledger of jobs, got nothing: without it, ${left} could run twice. It is back on the queue. To run such jobs all the same: --no-ledger`,
  };
}

type Ended = ReadonlyMap<string, JobFinished['status']>;

/** Records how each job ended, by its id, and which messages were refused. Both may be reported twice. */
function createEnds() {
  const ended = new Map<string, JobFinished['status']>();
  const refused = new Set<string>();
  return {
    ended,
    refused,
    onFinished({ id, status }: JobFinished) {
      ended.set(id, status);
    },
    onRefused(messageId: string) {
      refused.add(messageId);
    },
  };
}

const PROGRESS_EVERY_MS = 3_000;

function everyFewSeconds(act: () => Promise<void>): Disposable {
  const timer = setInterval(() => void act(), PROGRESS_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Reports progress, unless nothing has changed: a worker may have nothing to do for days. */
function progressReporter(ended: Ended, queue: Queue, err: Terminal['err']): () => Promise<void> {
  let reported = '';
  return async () => {
    // A failure of the queue itself ends the work, and is reported there.
    const counts = await queue.counts().catch(() => undefined);
    const rest =
      counts === undefined
        ? 'the queue does not report its counts'
        : `${counts.waiting} waiting, ${counts.inFlight} in flight, ${counts.delayed} delayed`;
    const line = `work: ${wordsOf(countEnds(ended))}; ${rest}`;
    if (line !== reported) err(line);
    reported = line;
  };
}

function countEnds(ended: Ended) {
  const ends = { done: 0, failed: 0, unknown: 0 };
  for (const status of ended.values()) ends[status] += 1;
  return ends;
}

const wordsOf = ({ done, failed, unknown }: ReturnType<typeof countEnds>) =>
  `${done} done, ${failed} failed, ${unknown} unknown`;

const summarize = (counts: WorkCounts, ended: Ended, refused: ReadonlySet<string>) => ({
  ...countEnds(ended),
  refused: refused.size,
  /** How often a message went back to the queue: on purpose, and because it could not be handled. */
  handedBack: counts.later,
  notHandled: counts.failed,
});

function show(
  summary: ReturnType<typeof summarize>,
  { json }: WorkFlags,
  { out }: Pick<Terminal, 'out'>,
): number {
  const { failed, unknown, refused, handedBack, notHandled } = summary;
  const rest = `${refused} refused; ${handedBack} handed back, ${notHandled} not handled`;
  out(json ? JSON.stringify(summary, undefined, 2) : `jobs: ${wordsOf(summary)}, ${rest}`);
  return failed + unknown + refused === 0 ? exitCodes.done : exitCodes.incomplete;
}

import { AwsError } from '../../aws/aws-error.ts';
import type { Ledger } from '../../jobs/ledger/ledger.ts';
import type { Job } from '../../jobs/types/job-types.ts';
import type { WorkCounts } from '../../jobs/work.ts';
import { readSettings, type Settings } from '../../settings.ts';
import type { AddCommand } from '../command.ts';
import { numberOption } from '../options.ts';
import { settingFor } from '../setting-for.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';
import { createTokenWatch } from '../token-watch.ts';
import { UsageError } from '../usage-error.ts';
import { createWorkView, wordsOfEnds } from '../work-view.ts';

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
  const settings = readSettings(terminal.environment);
  const isWatched = terminal.screen !== undefined;
  const token = createTokenWatch(tokenIn(settings));
  const session = openSession({ ...terminal, ...(isWatched ? token.hooks : {}) });
  const queueUrl = settingFor('work', settings, 'SYNC_QUEUE_URL');
  const { asSettingsError } = await import('../open-jobs.ts');
  const { openQueue } = await import('../../jobs/queue/open-queue.ts');
  const { openJobStorage } = await import('../../jobs/job-storage.ts');
  const { openWorker, renewedLease } = await import('../../jobs/open-worker.ts');
  const { work } = await import('../../jobs/work.ts');
  const { sleep } = await import('../../time/sleep.ts');
  const queue = await openQueue(queueUrl, terminal.environment);
  const storage = await openJobStorage(session);
  await refuseMissingTable(storage.ledger);
  const hasLedger = settings.SYNC_TABLE !== undefined || !flags.ledger;
  const { needsLedger } = await import('../../jobs/types/job-types.ts');
  const left = createLeftJobs(needsLedger);
  if (settings.SYNC_TABLE === undefined) terminal.err(hasLedger ? WITHOUT_LEDGER : WITHOUT_TABLE);
  // A failure of the queue itself ends the work, and is reported there.
  const counts = () => queue.counts().catch(() => undefined);
  using view = createWorkView({ ...terminal, counts, now: Date.now });
  const worker = await openWorker(session, storage, {
    onEnded: view.onEnded,
    ...(hasLedger ? {} : { takes: left.takes }),
  }).catch((error: unknown) => {
    throw asSettingsError(error);
  });
  const signal = AbortSignal.any([terminal.signal, left.signal, token.signal]);
  const back = await work({
    worker,
    queue,
    lease: renewedLease(storage.ledger, { stop: signal }),
    concurrency: flags.concurrency ?? settings.PLATFORM_CONCURRENCY,
    visibilitySeconds: VISIBILITY_SECONDS,
    drain: flags.drain === true,
    signal,
    isWatched,
    polls: terminal.polls,
    sleep,
    onRefused: view.onRefused,
  }).catch(refuseMissingQueue);
  view[Symbol.dispose]();
  return report(summarize(back, view.counts()), left.fault() ?? token.fault(), { flags, terminal });
}

/** Throws `UsageError` if there is no such queue. */
function refuseMissingQueue(error: unknown): never {
  const isMissing = error instanceof AwsError && error.failure.kind === 'missing';
  throw isMissing ? new UsageError(`SYNC_QUEUE_URL: ${error.message}`) : error;
}

/** A table that is away is waited for; one that does not exist would keep all jobs on the queue. */
async function refuseMissingTable(ledger: Ledger): Promise<void> {
  const { isServiceAway } = await import('../../jobs/service-away.ts');
  await ledger.read('-').catch((error: unknown) => {
    if (!isServiceAway(error)) throw error;
  });
}

/** Why the work ended early, and the exit code. */
type Fault = { readonly words: string; readonly code: number };

function report(
  summary: ReturnType<typeof summarize>,
  fault: Fault | undefined,
  { flags, terminal }: { readonly flags: WorkFlags; readonly terminal: Terminal },
): number {
  if (terminal.signal.aborted)
    terminal.err('stopped as requested; jobs that were not started are still on the queue');
  const code = show(summary, flags, terminal);
  if (fault === undefined) return code;
  terminal.err(shown(fault.words));
  return fault.code;
}

/** Whose token it is, for whoever is told that it is refused. */
const tokenIn = (settings: Settings) => ({
  host: new URL(settings.PLATFORM_BASE_URL).host,
  isFixed: settings.PLATFORM_TOKEN !== undefined,
  from:
    settings.PLATFORM_TOKEN === undefined
      ? `in ${settings.PLATFORM_TOKEN_SECRET}, which PLATFORM_TOKEN_SECRET names`
      : 'the one in PLATFORM_TOKEN',
});

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
        : {
            words: `platform-sync: work: expected SYNC_TABLE, the DynamoDB table that holds the ledger of jobs, got nothing: without it, ${left} could run twice. It is back on the queue. To run such jobs all the same: --no-ledger`,
            code: exitCodes.usage,
          },
  };
}

const summarize = (
  { later, failed }: WorkCounts,
  { done, failed: jobsFailed, unknown, refused }: ReturnType<ReturnType<typeof createWorkView>['counts']>,
) => ({
  done,
  failed: jobsFailed,
  unknown,
  refused,
  /** How often a message went back to the queue: on purpose, and because it could not be handled. */
  handedBack: later,
  notHandled: failed,
});

function show(
  summary: ReturnType<typeof summarize>,
  { json }: WorkFlags,
  { out }: Pick<Terminal, 'out'>,
): number {
  const { failed, unknown, refused, handedBack, notHandled } = summary;
  const rest = `${refused} refused; ${handedBack} handed back, ${notHandled} not handled`;
  out(json ? JSON.stringify(summary, undefined, 2) : `jobs: ${wordsOfEnds(summary)}, ${rest}`);
  return failed + unknown + refused === 0 ? exitCodes.done : exitCodes.incomplete;
}

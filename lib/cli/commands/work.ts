import type { JobFinished } from '../../jobs/handle-message.ts';
import type { Queue } from '../../jobs/queue/queue.ts';
import type { WorkCounts } from '../../jobs/work.ts';
import { openSession } from '../../session.ts';
import type { AddCommand } from '../command.ts';
import { numberOption } from '../options.ts';
import { settingFor } from '../setting-for.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

type WorkFlags = { readonly drain?: true; readonly concurrency?: number; readonly json?: true };

/** `work`: consumes the queue in this process, as the deployed worker would, until Ctrl-C or, drained, its end. */
export const addWork: AddCommand = (program, terminal, finish) => {
  program
    .command('work')
    .description('Run the jobs of the queue here; Ctrl-C finishes those that run.')
    .option('--drain', 'end when the queue holds nothing more')
    .option('--concurrency <n>', 'jobs at once (PLATFORM_CONCURRENCY)', numberOption(1, 1_000))
    .option('--json', 'print the counts as one JSON value')
    .action(async (flags: WorkFlags) => finish(await consume(flags, terminal)));
};

/** How long a message is nobody else's at a time. */
const VISIBILITY_SECONDS = 60;

async function consume(flags: WorkFlags, terminal: Terminal): Promise<number> {
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
  const worker = await openWorker(session, storage, { onFinished }).catch((error: unknown) => {
    throw asSettingsError(error);
  });
  if (settings.SYNC_TABLE === undefined)
    terminal.err(
      'platform-sync: SYNC_TABLE is not set: the ledger is in the memory of this process, and guards jobs against a second run within this process only',
    );
  using _ = everyFewSeconds(progressTeller(ended, queue, terminal.err));
  const counts = await work({
    worker,
    queue,
    lease: renewedLease(storage.ledger),
    concurrency: flags.concurrency ?? settings.PLATFORM_CONCURRENCY,
    visibilitySeconds: VISIBILITY_SECONDS,
    drain: flags.drain === true,
    signal: terminal.signal,
    sleep,
    onRefused,
  });
  if (terminal.signal.aborted) terminal.err('stopped as asked; what was not begun is still on the queue');
  return show(summarize(counts, ended, refused), flags, terminal);
}

type Ended = ReadonlyMap<string, JobFinished['status']>;

/** How each job ended, by its id, and which messages were refused. Both may be reported twice. */
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

/** Tells how far the work is, unless it is where it was: a worker may have nothing to do for days. */
function progressTeller(ended: Ended, queue: Queue, err: Terminal['err']): () => Promise<void> {
  let told = '';
  return async () => {
    // The queue's own failures end the work, and are told there.
    const counts = await queue.counts().catch(() => undefined);
    const rest =
      counts === undefined
        ? 'the queue does not tell what waits'
        : `${counts.waiting} waiting, ${counts.inFlight} in flight, ${counts.delayed} delayed`;
    const line = `work: ${wordsOf(countEnds(ended))}; ${rest}`;
    if (line !== told) err(line);
    told = line;
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
  /** Times that a message went back to the queue: as it was told to, and because it could not be handled. */
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

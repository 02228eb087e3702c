import { AwsError, sleep } from '../../base/index.ts';
import { openJobStorage } from '../../jobs/job-storage.ts';
import type { Ledger } from '../../jobs/ledger/ledger.ts';
import { openWorker, renewedLease } from '../../jobs/open-worker.ts';
import { openQueue } from '../../jobs/queue/open-queue.ts';
import { isServiceAway } from '../../jobs/service-away.ts';
import { type WorkCounts, work } from '../../jobs/work.ts';
import { openSession } from '../../session.ts';
import { readSettings, type Settings } from '../../settings.ts';
import type { FlagsOf, Run } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { createTokenWatch } from '../jobs/token-watch.ts';
import { createWorkView, wordsOfEnds } from '../jobs/work-view.ts';
import { settingFor } from '../options/from-settings.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { inJson } from '../terminal/words.ts';

type WorkFlags = FlagsOf<'work'>;

/** How long a received message is hidden from other workers, at a time. */
const VISIBILITY_SECONDS = 60;

/** Consumes the queue here, as the deployed worker would, until Ctrl-C or, with `--drain`, until it is empty. */
export default (async (_, flags, terminal) => {
  const settings = readSettings(terminal.environment);
  const isWatched = terminal.screen !== undefined;
  const token = createTokenWatch(tokenIn(settings));
  const session = openSession({ ...terminal, ...(isWatched ? token.hooks : {}) });
  const queueUrl = settingFor('work', settings, 'SYNC_QUEUE_URL');
  settingFor('work', settings, 'SYNC_TABLE');
  const queue = await openQueue(queueUrl, terminal.environment);
  const storage = await openJobStorage(session);
  await refuseMissingTable(storage.ledger);
  // A failure of the queue itself ends the work, and is reported there.
  const counts = () => queue.counts().catch(() => undefined);
  using view = createWorkView({ ...terminal, counts, now: Date.now });
  const worker = await openWorker(session, storage, view);
  const signal = AbortSignal.any([terminal.signal, token.signal]);
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
  }).catch(refuseMissingQueue);
  view[Symbol.dispose]();
  return report(summarize(back, view.counts()), token.fault(), { flags, terminal });
}) satisfies Run<'work'>;

/** Throws `UsageError` if there is no such queue. */
function refuseMissingQueue(error: unknown): never {
  const isMissing = error instanceof AwsError && error.failure.kind === 'missing';
  throw isMissing ? new UsageError(`SYNC_QUEUE_URL: ${error.message}`) : error;
}

/** A table that is away is waited for; one that does not exist would keep all jobs on the queue. */
async function refuseMissingTable(ledger: Ledger): Promise<void> {
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
export const tokenIn = (settings: Settings) => ({
  host: new URL(settings.PLATFORM_BASE_URL).host,
  isFixed: settings.PLATFORM_TOKEN !== undefined,
  from:
    settings.PLATFORM_TOKEN === undefined
      ? `in ${settings.PLATFORM_TOKEN_SECRET}, which PLATFORM_TOKEN_SECRET names`
      : 'the one in PLATFORM_TOKEN',
});

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
  out(json ? inJson(summary) : `jobs: ${wordsOfEnds(summary)}, ${rest}`);
  return failed + unknown + refused === 0 ? exitCodes.done : exitCodes.incomplete;
}

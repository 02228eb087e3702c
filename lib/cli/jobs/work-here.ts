import { shortened } from '../../base/index.ts';
import { adviceSentence, type EndedJob, openLocalWorker, type Queue } from '../../jobs/index.ts';
import { INVALID_FORMULA } from '../../jobs/types/index.ts';
import type { OpenBreaker } from '../../pace/index.ts';
import type { PlatformEvent } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import type { Settings } from '../../settings.ts';
import { openSessionOf } from '../options/from-settings.ts';
import { clockTime } from '../terminal/log-lines.ts';
import { createProgress, LINE_EVERY_MS, onTimer } from '../terminal/progress.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';

/** How a job ended; for a refused message only its id, status and error are known. */
type JobEnd = Pick<EndedJob, 'id' | 'status' | 'error'> & Partial<EndedJob>;

type JobsHere<Back> = {
  readonly name: 'run' | 'work';
  readonly settings: Settings;
  readonly work: (worker: Awaited<ReturnType<typeof openLocalWorker>>) => Promise<Back>;
  /** The number of jobs, or the queue that counts them. */
  readonly of: number | Pick<Queue, 'counts'>;
  readonly concurrency: number | undefined;
  readonly isEndless: boolean;
  /** Whether to stop if the platform refuses the token, so that the user can replace it. */
  readonly endsWithToken: boolean;
  /** Stops after this many formulas in a row were stored as INVALID. Default: never. */
  readonly maxInvalid?: number | undefined;
  /**
   * The error of a job whose message is refused, which then counts as failed too. Default: only the refusal is
   * counted.
   */
  readonly refusal?: EndedJob['error'];
};

/** Maximum failed jobs, and maximum unknown jobs, that are listed. All of them are counted. */
const MAX_LISTED = 20;

/** Time between two reads of the queue's counts for the progress line, in milliseconds. */
const COUNT_EVERY_MS = 3_000;

/** Runs jobs in this process until none is left or it is stopped. Shows the progress, and counts the outcomes. */
export async function runJobsHere<Back>(jobs: JobsHere<Back>, terminal: Terminal) {
  const { settings } = jobs;
  const token = createTokenWatch(settings);
  const session = openSessionOf(terminal, {
    ...(jobs.endsWithToken ? token.hooks : {}),
    uses: ['SYNC_EVENT_BUS', 'SYNC_SNAPSHOT_FUNCTION'],
  });
  const invalid = new AbortController();
  let invalidInARow = 0;
  const worker = await openLocalWorker(session, {
    signal: AbortSignal.any([terminal.signal, token.signal, invalid.signal]),
    concurrency: jobs.concurrency ?? settings.PLATFORM_CONCURRENCY,
    onRefused: (id) => view.onRefused(id),
    onEnded(job, where) {
      view.onEnded(job);
      if (where === 'elsewhere') return;
      invalidInARow = job.error?.kind === INVALID_FORMULA ? invalidInARow + 1 : 0;
      if (invalidInARow === jobs.maxInvalid) invalid.abort();
    },
  });
  using view = createView(jobs, session.callCounts, terminal);
  const { counts, notDone } = view;
  const back = await jobs.work(worker);
  const { paid } = session;
  return {
    counts,
    notDone,
    back,
    worker,
    paid,
    tokenRefusal: token.refusal(),
    isInvalid: invalid.signal.aborted,
  };
}

/**
 * Detects that the platform refuses the token, so that the user can replace it before every other job is refused. A
 * token from a secret is read again after its first refusal, so it counts as refused only after its second refusal, and
 * only if the breaker has stopped jobs. The breaker by itself is not enough, since another worker's token may have
 * caused it.
 */
export function createTokenWatch(
  options: Pick<Settings, 'PLATFORM_BASE_URL' | 'PLATFORM_TOKEN' | 'PLATFORM_TOKEN_SECRET'>,
) {
  const { PLATFORM_BASE_URL, PLATFORM_TOKEN, PLATFORM_TOKEN_SECRET } = options;
  const stop = new AbortController();
  let [refusals, isStopped] = [0, false];
  const stopIfSure = () => {
    if (PLATFORM_TOKEN === undefined ? isStopped && refusals > 1 : refusals > 0) stop.abort();
  };
  const setting =
    PLATFORM_TOKEN === undefined ? `${PLATFORM_TOKEN_SECRET} (PLATFORM_TOKEN_SECRET)` : 'PLATFORM_TOKEN';
  return {
    /** Aborted when it is certain that the token is refused. */
    get signal(): AbortSignal {
      return stop.signal;
    },
    /** Observes the calls of the session that uses the token. */
    hooks: {
      observe(event: PlatformEvent) {
        if (event.kind !== 'request' || event.status !== 401) return;
        refusals += 1;
        stopIfSure();
      },
      onUnavailable({ cause }: OpenBreaker) {
        isStopped = cause === 'refused token';
        stopIfSure();
      },
    },
    /** The message about a refused token; undefined if it was not refused. */
    refusal: () =>
      stop.signal.aborted
        ? `platform-sync: ${new URL(PLATFORM_BASE_URL).host} refused the token in ${setting} (401): check that it is correct, and neither expired nor revoked. No job was done with it; all jobs were returned to the queue`
        : undefined,
  };
}

/**
 * Shows the progress, counts the outcomes of jobs, and lists the first failed and unknown jobs. At a terminal, it also
 * prints each job that comes from a queue. If a message is delivered again, its job is counted again.
 */
function createView(
  { name, of, isEndless, refusal }: Omit<JobsHere<unknown>, 'work'>,
  callCounts: Session['callCounts'],
  { screen, err }: Pick<Terminal, 'screen' | 'err'>,
) {
  const counts = { done: 0, failed: 0, unknown: 0, refused: 0 };
  const notDone: { id: string; status: 'failed' | 'unknown'; reason: string; advice: string }[] = [];
  const allEnded = () => counts.done + counts.failed + counts.unknown;
  const queue = typeof of === 'number' ? undefined : of;
  const nouns = [queue === undefined ? 'rows' : 'jobs', 'calls'] as const;
  const progress = createProgress(name, { screen, err, callCounts, nouns, isEndless });
  let known = typeof of === 'number' ? of : undefined;
  const show = () => {
    const records = allEnded();
    // The queue's counts are late, so more jobs may have ended than were counted.
    const total = known === undefined ? null : Math.max(known, records);
    const left = total === null ? [] : [`${total - records} left`];
    progress.update({ records, total, also: [`${counts.failed + counts.unknown} failed`, ...left] });
  };
  const countQueue = async () => {
    // If the queue fails, the worker ends and reports it.
    const found = await queue?.counts().catch(() => undefined);
    known = found && allEnded() + found.waiting + found.inFlight + found.delayed;
    show();
  };
  const everyMs = screen === undefined ? LINE_EVERY_MS : COUNT_EVERY_MS;
  const counting = queue && onTimer(everyMs, () => void countQueue());
  show();
  const onEnded = (job: JobEnd) => {
    const { id, status, error } = job;
    counts[status] += 1;
    if (status !== 'done' && counts[status] <= MAX_LISTED)
      notDone.push({ id, status, reason: error?.message ?? '', advice: adviceSentence(id, status, error) });
    show();
    if (queue !== undefined && screen !== undefined) err(shown(`${clockTime(Date.now())} ${describe(job)}`));
  };
  return {
    counts,
    notDone,
    onEnded,
    onRefused(id: string) {
      counts.refused += 1;
      if (refusal !== undefined) onEnded({ id, status: 'failed', error: refusal });
    },
    [Symbol.dispose]() {
      counting?.[Symbol.dispose]();
      progress.end();
    },
  };
}

/** Maximum characters of an id that are printed. A longer id would push the rest of the line off the screen. */
const MAX_ID_LENGTH = 60;

const describe = ({ id, type, status, tookMs, error }: JobEnd): string =>
  [
    `${status}: ${type} ${shortened(id, MAX_ID_LENGTH)}`,
    ...(tookMs === undefined ? [] : [`, ${(tookMs / 1_000).toFixed(1)} s`]),
    ...(error === undefined ? [] : [`: ${error.message}`]),
  ].join('');

import { isPassing } from '../base/aws/index.ts';
import { once, sleep as sleepInTime } from '../base/index.ts';
import type { Clock } from '../pace/index.ts';
import { operations } from '../platform/http/index.ts';
import type { Sentiment } from '../platform/index.ts';
import type { Session } from '../session.ts';
import { needed } from '../settings.ts';
import { readAllow } from './allow.ts';
import type { Lease } from './delivery.ts';
import type { Worker } from './handle-message.ts';
import { type JobStorage, openJobStorage } from './job-storage.ts';
import { jobTimes } from './job-times.ts';
import type { Claim } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createPlaces } from './places.ts';
import { openQueue } from './queue/open-queue.ts';
import type { QueueMessage } from './queue/queue.ts';
import { eventsTo } from './redrive.ts';
import { RequeueError } from './send-context.ts';
import { createDailyUsageCounter } from './texts/daily-usage.ts';
import { definitionOf, openRunners } from './types/job-types.ts';
import { runBatch } from './work.ts';

/** Callbacks for jobs that end, and for texts that are scored. */
type WorkerHooks = Pick<Worker, 'onEnded' | 'onRefused'> & {
  readonly onSentiment?: (response: Sentiment) => void;
};

/** Opens a worker. Throws `SettingsError` for a wrong setting, and a `bad-table` TableError for another table. */
export async function openWorker(
  session: Session,
  storage: JobStorage,
  hooks: WorkerHooks = {},
): Promise<Worker> {
  const { settings, logger } = session;
  const { store, ledger, batches } = storage;
  await Promise.all([
    storage.checkTable().catch((error: unknown) => {
      if (!isPassing(error)) throw error;
    }),
    // If the table is unavailable, this is repeated until it succeeds, before any job is taken.
    ledger.setTime().catch(() => undefined),
  ]);
  const clock = { now: ledger.now, random: Math.random, sleep: sleepInTime };
  const allow = readAllow(settings.SYNC_ALLOW);
  // A job is requeued rather than wait long. A snapshot would start over, so it waits.
  const platform = operations(session.callWith({ budgetMs: settings.PLATFORM_MAX_WAIT_MS }));
  const { onSentiment, ...others } = hooks;
  return {
    ledger,
    store,
    batches,
    allow,
    logger,
    inHand: session.inHand,
    ...clock,
    runners: await openRunners({ session, storage, platform, onSentiment, ...clock }),
    mustLastMs: (job) => definitionOf(job).timeoutMs ?? settings.PLATFORM_TIMEOUT_MS,
    breaker: session.breaker,
    places: createPlaces(clock),
    reportFinished: createFinishedReporter(session),
    ...others,
  };
}

function createFinishedReporter({ settings, environment, logger }: Session): Worker['reportFinished'] {
  const { SYNC_EVENT_BUS: bus, SYNC_STORE: store } = settings;
  if (bus === undefined) return async (event) => logger.info({ event }, 'JobFinished');
  const reporter = once(() => eventsTo(bus, store, environment));
  return async (event) => (await reporter())(event);
}

/** The length of a lease in a worker without a deadline, in milliseconds. If a worker dies, its jobs wait this long. */
const HELD_LEASE_MS = 30_000;

/**
 * How long a process that is stopped still tries to store outcomes, in milliseconds: shorter than most
 * processes are given.
 */
const GRACE_MS = 20_000;

/** The lease of a process that runs for long. Once `stop` is aborted, jobs are requeued unless a request was sent. */
export function renewedLease(
  ledger: Ledger,
  { leaseMs = HELD_LEASE_MS, stop }: { readonly leaseMs?: number; readonly stop?: AbortSignal } = {},
): Lease {
  let writeUntilMs = Number.POSITIVE_INFINITY;
  const stopping = new AbortController();
  const stopSoon = () => {
    stopping.abort(new RequeueError('the worker is stopping', 0));
    writeUntilMs = ledger.now() + GRACE_MS;
  };
  if (stop?.aborted) stopSoon();
  stop?.addEventListener('abort', stopSoon, { once: true });
  return {
    deadlineMs: undefined,
    leaseMs,
    writeUntilMs: () => writeUntilMs,
    stop: stopping.signal,
    holdLease: (claim) =>
      renewLease({ ledger, claim, leaseMs, now: ledger.now, steady: () => performance.now() }),
  };
}

/** How long a lease outlasts the invocation, in milliseconds: clocks may differ a little. */
const AFTER_INVOCATION_MS = 2_000;

/** The time that is reserved for returning messages to the queue and responding, in milliseconds. */
const TO_RESPOND_MS = 1_000;

/** Lambda's limit in milliseconds. Its runtime computes the time left from the clock here, which may be wrong. */
const MAX_INVOCATION_MS = 900_000;

/**
 * The lease in an invocation that has `remainingMs` left, measured by `steady`, a clock that is never set.
 * The lease outlasts the invocation, and is never renewed.
 */
export function leaseOf(
  remainingMs: number,
  { now, steady = () => performance.now() }: Pick<Clock, 'now' | 'steady'>,
): Lease {
  const endMs = steady() + Math.min(remainingMs, MAX_INVOCATION_MS);
  const leftMs = () => endMs - steady();
  return {
    get deadlineMs() {
      return now() + leftMs() - jobTimes.toAnswerMs;
    },
    get leaseMs() {
      return Math.max(jobTimes.toAnswerMs, leftMs()) + AFTER_INVOCATION_MS;
    },
    writeUntilMs: () => now() + leftMs() - TO_RESPOND_MS,
    holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
  };
}

/** Thrown if the lease of a job was lost while work continued: its outcome is no longer stored. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(id: string, got: string, options?: { readonly cause: unknown }) {
    super(`renew the lease of job ${id}: ${got}`, options);
  }
}

/**
 * Renews a lease after each third of its length, until it expires. A renewal that fails is repeated after the next
 * third. When the lease is lost, the signal is aborted with a `LeaseLostError`. Disposing waits for a renewal in progress.
 */
export function renewLease(options: {
  readonly ledger: Pick<Ledger, 'renew'>;
  readonly claim: Claim;
  readonly leaseMs: number;
  readonly now: () => number;
  /** Milliseconds on a clock that is never set. Default: `now`. */
  readonly steady?: () => number;
  /** Rejects when the signal is aborted. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): ReturnType<Lease['holdLease']> {
  const { ledger, claim, leaseMs, now, steady = now, sleep = sleepInTime } = options;
  const lost = new AbortController();
  const stopped = new AbortController();
  const wait = (ms: number) => sleep(Math.max(0, ms), stopped.signal).catch(() => undefined);
  /** When the lease ends by the steady clock, which does not change when the other clock is set. */
  const endOf = (held: Claim) => steady() + held.leaseUntilMs - now();
  let endMs = endOf(claim);
  let underWay: Promise<void> = Promise.resolve();
  let cause: unknown;

  const lose = (got: string): void => {
    if (!stopped.signal.aborted) lost.abort(new LeaseLostError(claim.id, got, { cause }));
    stopped.abort();
  };

  const renewOnce = async (): Promise<void> => {
    try {
      const answer = await ledger.renew(claim, leaseMs);
      if (answer.kind === 'lost') lose(`another worker has it, ${answer.row?.state ?? 'no row'}`);
      else endMs = endOf(answer.claim);
    } catch (error) {
      cause = error;
    }
  };

  // Even if a renewal hangs, it must be noticed that the lease expires.
  const renewUntilStopped = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await wait(Math.min(leaseMs / 3, endMs - steady()));
      if (stopped.signal.aborted) return;
      if (steady() >= endMs) return lose('it expired');
      underWay = renewOnce();
      await Promise.race([underWay, wait(endMs - steady())]);
    }
  };

  const renewing = renewUntilStopped();
  return {
    signal: lost.signal,
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await Promise.all([renewing, underWay]);
    },
  };
}

/**
 * Opens the worker of a deployed function, for all of its invocations. Throws without a table or queue, or if
 * the table is not the store's.
 */
export async function openInvocationWorker(session: Session, hooks: WorkerHooks) {
  const { settings, environment } = session;
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  const [storage, queue] = await Promise.all([openJobStorage(session), openQueue(queueUrl, environment)]);
  const worker = await openWorker(session, storage, hooks);
  const { ledger, table } = storage;
  return {
    /**
     * Handles the messages of an invocation that has this much time left. Returns the ids of those that must
     * be delivered again.
     */
    run(messages: readonly QueueMessage[], remainingMs: number): Promise<readonly string[]> {
      const lease = leaseOf(remainingMs, ledger);
      return runBatch(messages, { worker, lease, queue, concurrency: settings.PLATFORM_CONCURRENCY });
    },
    /**
     * Adds the scored texts to the sums of the day, over all processes. Returns the sums; undefined if
     * nothing was added.
     */
    addToDay: createDailyUsageCounter(table, ledger.now),
  };
}

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
import { createJobSlots } from './job-slots.ts';
import { type JobStorage, openJobStorage } from './job-storage.ts';
import { jobTimes } from './job-times.ts';
import type { Claim } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { openQueue } from './queue/open-queue.ts';
import type { QueueMessage } from './queue/queue.ts';
import { openEventBus } from './redrive.ts';
import { RequeueError } from './send-context.ts';
import { createDailyUsageCounter } from './texts/daily-usage.ts';
import { definitionOf, openRunners } from './types/job-types.ts';
import { runBatch } from './work.ts';

/** Callbacks for jobs that end, and for texts that are scored. */
type WorkerHooks = Pick<Worker, 'onEnded' | 'onRefused'> & {
  readonly onSentiment?: (response: Sentiment) => void;
};

/**
 * Opens a worker. Throws `SettingsError` if a setting is invalid, and a `bad-table` TableError if the table belongs to
 * another store.
 */
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
    // A failure here does no harm: each job sets the time again before it is claimed.
    ledger.setTime().catch(() => undefined),
  ]);
  const clock = { now: ledger.now, random: Math.random, sleep: sleepInTime };
  const allow = readAllow(settings.SYNC_ALLOW);
  // A job that would wait long for its turn is requeued instead. A snapshot would start over, so it waits.
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
    maxSendMs: (job) => definitionOf(job).timeoutMs ?? settings.PLATFORM_TIMEOUT_MS,
    breaker: session.breaker,
    slots: createJobSlots(clock),
    reportFinished: createFinishedReporter(session),
    ...others,
  };
}

function createFinishedReporter({ settings, environment, logger }: Session): Worker['reportFinished'] {
  const { SYNC_EVENT_BUS: bus, SYNC_STORE: store } = settings;
  if (bus === undefined) return async (event) => logger.info({ event }, 'JobFinished');
  const reporter = once(() => openEventBus(bus, store, environment));
  return async (event) => (await reporter())(event);
}

/** The length of a renewed lease, in milliseconds. If a worker dies, its jobs wait this long. */
const RENEWED_LEASE_MS = 30_000;

/**
 * How long a process that must stop still tries to store outcomes, in milliseconds: less than the usual time
 * before such a process is killed.
 */
const GRACE_MS = 20_000;

/** The lease of a process without a deadline. Once `stop` is aborted, jobs are requeued unless a request was sent. */
export function renewedLease(
  ledger: Ledger,
  { leaseMs = RENEWED_LEASE_MS, stop }: { readonly leaseMs?: number; readonly stop?: AbortSignal } = {},
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

/** Lambda's limit, in milliseconds. The time left that its runtime reports is longer if the clock here is wrong. */
const MAX_INVOCATION_MS = 900_000;

/**
 * The lease in an invocation that has `remainingMs` left, measured by `steady`, a clock that is never changed. The
 * lease outlasts the invocation, and is never renewed.
 */
export function invocationLease(
  remainingMs: number,
  { now, steady = () => performance.now() }: Pick<Clock, 'now' | 'steady'>,
): Lease {
  const endMs = steady() + Math.min(remainingMs, MAX_INVOCATION_MS);
  const leftMs = () => endMs - steady();
  return {
    get deadlineMs() {
      return now() + leftMs() - jobTimes.toRespondMs;
    },
    get leaseMs() {
      return Math.max(jobTimes.toRespondMs, leftMs()) + AFTER_INVOCATION_MS;
    },
    writeUntilMs: () => now() + leftMs() - TO_RESPOND_MS,
    holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
  };
}

/** Thrown if the lease of a job was lost while the job was running. The job's outcome is then not stored. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(id: string, got: string, options?: { readonly cause: unknown }) {
    super(`renew the lease of job ${id}: ${got}`, options);
  }
}

/**
 * Renews a lease each time a third of it has passed. A renewal that fails is repeated after the next third. If the
 * lease is lost or expires, aborts the signal with a `LeaseLostError`. Disposing waits for a renewal in progress.
 */
export function renewLease(options: {
  readonly ledger: Pick<Ledger, 'renew'>;
  readonly claim: Claim;
  readonly leaseMs: number;
  readonly now: () => number;
  /** Milliseconds on a clock that is never changed. Default: `now`. */
  readonly steady?: () => number;
  /** Rejects when the signal is aborted. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): ReturnType<Lease['holdLease']> {
  const { ledger, claim, leaseMs, now, steady = now, sleep = sleepInTime } = options;
  const lost = new AbortController();
  const stopped = new AbortController();
  const wait = (ms: number) => sleep(Math.max(0, ms), stopped.signal).catch(() => undefined);
  /** When the lease ends by the steady clock, which runs on evenly if the clock of `now` is changed. */
  const endOf = (current: Claim) => steady() + current.leaseUntilMs - now();
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
      if (answer.kind === 'lost')
        lose(`another worker has the job, which is ${answer.row?.state ?? 'without a row'}`);
      else endMs = endOf(answer.claim);
    } catch (error) {
      cause = error;
    }
  };

  // The race ends at the lease's expiry even if a renewal hangs.
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
 * Opens the worker of a deployed function, for all of its invocations. Throws if no table or queue is set, or the
 * table belongs to another store.
 */
export async function openInvocationWorker(session: Session, hooks: WorkerHooks) {
  const { settings, environment } = session;
  const queueUrl = needed(settings, 'SYNC_QUEUE_URL');
  const [storage, queue] = await Promise.all([openJobStorage(session), openQueue(queueUrl, environment)]);
  const worker = await openWorker(session, storage, hooks);
  const { ledger, table } = storage;
  return {
    /**
     * Handles the messages of an invocation that has this much time left. Returns the ids of the messages that must be
     * delivered again.
     */
    run(messages: readonly QueueMessage[], remainingMs: number): Promise<readonly string[]> {
      const lease = invocationLease(remainingMs, ledger);
      return runBatch(messages, { worker, lease, queue, concurrency: settings.PLATFORM_CONCURRENCY });
    },
    /**
     * Adds the scored texts to the sums of the day, over all processes. Returns the sums; undefined if
     * nothing was added.
     */
    addToDay: createDailyUsageCounter(table, ledger.now),
  };
}

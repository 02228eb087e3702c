import { backoffMs, sleep } from '../base/index.ts';
import type { Worker } from './handle-message.ts';
import { type HandledOnce, handleOnce } from './handle-once.ts';
import type { Lease } from './held.ts';
import { createEmptyCheck, LONG_POLLS } from './queue/empty-queue.ts';
import type { Polls, Queue, QueueMessage } from './queue/queue.ts';
import { isServiceAway, queueWaitMs } from './service-away.ts';

export type WorkOptions = {
  readonly worker: Worker;
  readonly lease: Lease;
  readonly queue: Queue;
  /** The most jobs that run at once; fewer while leases are lost. */
  readonly concurrency: number;
  /** How long a message is hidden from other receivers at a time; extended while its job runs. */
  readonly visibilitySeconds: number;
  /** End when the queue is empty, which takes more than 20 s of long polls to know; otherwise only on the signal. */
  readonly drain: boolean;
  /** Ends the work: running jobs are finished, and no new ones are started. */
  readonly signal: AbortSignal;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Waits between two extensions of a message's visibility timeout; rejects once the signal is aborted. Default: `sleep` of `lib/base/time`. */
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Those of the queue if not given. */
  readonly polls?: Polls | undefined;
  /** Somebody watches, who would rather know at once that the queue cannot be reached. Default: false. */
  readonly isWatched?: boolean | undefined;
  /** Called for each message that is refused, and again if the message is delivered again. */
  readonly onRefused?: (messageId: string) => void;
};

export type WorkCounts = { readonly done: number; readonly later: number; readonly failed: number };

/**
 * Consumes a queue in this process, as the deployed worker would, until it is stopped or there is nothing left. It
 * takes no more messages than it has room for, and none while the platform, the table or the store is away. While the
 * queue is away it tries again until it is stopped. Throws what the queue throws if that will not pass, such as that it
 * does not exist, once all running jobs have finished.
 */
export async function work(options: WorkOptions): Promise<WorkCounts> {
  const { queue, visibilitySeconds, drain, signal, polls = queue.polls ?? LONG_POLLS } = options;
  const { waitSeconds, areCountsExact } = polls;
  const running = new Set<Promise<void>>();
  const begun = createBegun(options);
  const isEmpty = createEmptyCheck(queue, polls);
  const unlessAway = createQueueOutage(options);
  const poll = async () => {
    const most = Math.min(10, begun.places() - running.size);
    const wasIdle = running.size === 0;
    const messages = await queue.receive({ most, waitSeconds, visibilitySeconds });
    for (const message of messages) {
      const one = begun.add(message).finally(() => running.delete(one));
      running.add(one);
    }
    const isQuiet = wasIdle && messages.length === 0 && (areCountsExact || !begun.isComingBack());
    if (drain && (await isEmpty({ isQuiet }))) return 'empty';
    if (messages.length === 0 && waitSeconds === 0) await pause(CHECK_EVERY_MS, options);
    return 'polled';
  };
  try {
    while (!signal.aborted) {
      if (running.size >= begun.places()) await Promise.race(running);
      else if (begun.isServiceAway()) begun.servicesAreBack(await untilServicesAreBack(options));
      else if (!(await isPlatformAway(options)) && (await unlessAway(poll)) === 'empty') break;
    }
  } finally {
    await Promise.all(running);
  }
  return begun.counts();
}

/** How many messages are remembered: a copy is delivered soon after its message, or hardly ever. */
const MOST_REMEMBERED = 10_000;

/** The messages that were received: how they ended, and what that says about the queue and the services. */
function createBegun(options: WorkOptions) {
  const counts = { done: 0, later: 0, failed: 0 };
  const { concurrency, lease, visibilitySeconds, worker } = options;
  let places = concurrency;
  let [halvedAtMs, isAway] = [Number.NEGATIVE_INFINITY, false];
  // When a message is due that went back; 0 if it was deleted, so that no copy of it is waited for.
  const dueAtMs = new Map<string, number>();
  const isDueAt = ({ messageId }: QueueMessage, atMs: number) => {
    if (dueAtMs.get(messageId) !== 0) dueAtMs.set(messageId, atMs);
    const [oldest = ''] = dueAtMs.keys();
    if (dueAtMs.size > MOST_REMEMBERED) dueAtMs.delete(oldest);
  };
  // What loses a lease is most often that this machine, or the table, cannot renew so many in time. Then each job in
  // hand makes the others slower, all are lost and claimed again, and none would ever end.
  const holdFewer = () => {
    if (worker.now() - halvedAtMs < lease.leaseMs) return;
    halvedAtMs = worker.now();
    places = Math.max(1, places / 2);
  };
  return {
    async add(message: QueueMessage): Promise<void> {
      const handled = await handleOne(message, options);
      counts[handled.kind === 'replaced' ? 'later' : handled.kind] += 1;
      if (handled.kind === 'done') {
        isDueAt(message, 0);
        places = Math.min(concurrency, places + 1 / Math.floor(places));
        return;
      }
      isDueAt(message, worker.now() + (handled.delayMs ?? visibilitySeconds * 1000));
      if (handled.kind === 'later' && handled.isLost) holdFewer();
      if (handled.kind === 'failed' && handled.isAway) isAway = true;
    },
    /** How many jobs the process holds at once: half as many after each loss, one more for each round without. */
    places: () => Math.floor(places),
    /** Whether a message that went back to the queue is not due yet: the queue's counts may be too old to include it. */
    isComingBack: () => dueAtMs.values().some((atMs) => atMs > worker.now()),
    isServiceAway: () => isAway,
    servicesAreBack(are: boolean) {
      isAway = !are;
    },
    counts: (): WorkCounts => counts,
  };
}

/**
 * Makes a request of the queue. Returns undefined, after a wait, if the queue is away, which is logged once for each
 * outage. Throws what will not pass; a watched queue that has never responded, too: its address is most likely wrong.
 */
function createQueueOutage({ worker: { logger, random }, sleep, signal, isWatched = false }: WorkOptions) {
  let tries = 0;
  let hasResponded = false;
  return async <T>(request: () => Promise<T>): Promise<T | undefined> => {
    try {
      const result = await request();
      hasResponded = true;
      if (tries > 0) logger.info('the queue is back');
      tries = 0;
      return result;
    } catch (err) {
      if (!isServiceAway(err) || (isWatched && !hasResponded)) throw err;
      tries += 1;
      if (tries === 1) logger.warn({ err }, 'the queue is away: tried again until it responds');
      await sleep(queueWaitMs(tries, random()), signal).catch(() => undefined);
      return undefined;
    }
  };
}

const pause = (ms: number, { sleep, signal }: WorkOptions): Promise<void> =>
  sleep(ms, signal).catch(() => undefined);

/** Waits between two looks at the table and the store. */
const LOOKS = { baseDelayMs: 1_000, maxDelayMs: 10_000 };

/** A name that neither a job nor an object has. */
const NOTHING = '-';

/** Waits until the table and the store respond again, and returns true; false if the signal ended the wait. */
async function untilServicesAreBack({ worker, sleep, signal }: WorkOptions): Promise<boolean> {
  const { ledger, store, logger, random } = worker;
  for (let look = 1; ; look += 1) {
    try {
      await Promise.all([ledger.read(NOTHING), store.get(`work/${NOTHING}`)]);
      if (look > 1) logger.info('the table and the store are back');
      return true;
    } catch (err) {
      // Any other failure is not an outage: the next job shows what it does.
      if (!isServiceAway(err)) return true;
      if (look === 1) logger.warn({ err }, 'the table or the store is away: no jobs are taken');
    }
    await sleep(backoffMs(look, 0.5 + random() / 2, LOOKS), signal).catch(() => undefined);
    if (signal.aborted) return false;
  }
}

/** Whether the platform is away. Then it has waited a little, or probed: nothing is received until it is back. */
async function isPlatformAway(options: WorkOptions): Promise<boolean> {
  const { breaker } = options.worker;
  if (breaker?.knownBlockedMs() === undefined) return false;
  const blockedMs = await breaker.blockedMs();
  if (blockedMs === undefined) return false;
  await pause(Math.min(blockedMs, CHECK_AWAY_MS), options);
  return true;
}

/** How often to check whether the platform is back; another worker may have found out. */
const CHECK_AWAY_MS = 1_000;

/** How long to wait before the next poll where polls do not wait. */
const CHECK_EVERY_MS = 200;

async function handleOne(message: QueueMessage, options: WorkOptions): Promise<HandledOnce> {
  const { lease, queue } = options;
  const onRefused = () => {
    options.worker.onRefused?.();
    options.onRefused?.(message.messageId);
  };
  const worker = { ...options.worker, onRefused };
  const stopHiding = keepHidden(message, options);
  const handled = await handleOnce(message, { worker, lease, queue, stopHiding });
  if (handled.kind !== 'done') return handled;
  try {
    await queue.delete(message.receipt);
    return handled;
  } catch (err) {
    worker.logger.warn({ messageId: message.messageId, err }, 'message not deleted; delivered again');
    return { kind: 'failed', delayMs: undefined, isAway: false };
  }
}

/** Extends a message's visibility timeout after each third of it, until the returned function is called. */
function keepHidden(
  { receipt, messageId }: QueueMessage,
  { queue, visibilitySeconds, rest = sleep, worker: { logger } }: WorkOptions,
): () => Promise<void> {
  const visibilityMs = visibilitySeconds * 1000;
  const stopped = new AbortController();
  const keep = async () => {
    while (!stopped.signal.aborted) {
      await rest(visibilityMs / 3, stopped.signal);
      const extended =
        queue.extend === undefined ? queue.delay(receipt, visibilityMs) : queue.extend(receipt, visibilityMs);
      await extended.catch((err: unknown) => logger.warn({ messageId, err }, 'visibility not extended'));
    }
  };
  // The sleep ends with the signal's reason.
  const keeping = keep().catch(() => undefined);
  return async () => {
    stopped.abort();
    await keeping;
  };
}

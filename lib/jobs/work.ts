import PQueue from 'p-queue';
import { isOfDisk, isPassing, type ProblemName, withIds } from '../base/aws/index.ts';
import { retryUntil, sleep as sleepInTime } from '../base/index.ts';
import { TableError } from '../table/index.ts';
import type { Lease } from './delivery.ts';
import { handleMessage, type Worker } from './handle-message.ts';
import { withId } from './message/check-message.ts';
import { parseMessage } from './message/message.ts';
import {
  createEmptyCheck,
  LONG_POLLS,
  type Polls,
  type Queue,
  type QueueMessage,
  queueWaitMs,
  typeIn,
} from './queue/queue.ts';
import { WRITE_RETRIES } from './record-end.ts';
import { longTypes, sendsMany } from './types/job-types.ts';

type WorkOptions = {
  readonly worker: Worker;
  readonly lease: Lease;
  readonly queue: Queue;
  /** How many short jobs run at the same time, and also how many long jobs (`sendsMany`). */
  readonly concurrency: number;
  /** The visibility timeout of a received message, in seconds. It is extended while the message's job runs. */
  readonly visibilitySeconds: number;
  /**
   * Whether to end when the queue is empty, which SQS shows only after 20 s of long polls. If false, only the
   * signal ends the work.
   */
  readonly drain: boolean;
  /** Aborting it ends the work: running jobs are finished, and no new ones are started. */
  readonly signal: AbortSignal;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * Waits between two extensions of a message's visibility timeout; rejects once the signal is aborted.
   * Default: a timer.
   */
  readonly waitToExtend?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How to poll a queue that does not say how (`Queue.polls`). Default: long polls. */
  readonly polls?: Polls | undefined;
  /** Whether a user is watching: if so, work fails immediately if the queue cannot be reached. Default: false. */
  readonly isWatched?: boolean | undefined;
};

/**
 * Consumes a queue in this process, as the deployed worker would, until it is stopped or the queue is empty. It takes
 * only as many messages as it can run, and none while the table or the store is unavailable. Throws permanent errors of
 * the queue, and a failure of the disk, after all running jobs have finished.
 */
export async function work(
  options: WorkOptions,
): Promise<{ readonly done: number; readonly later: number; readonly failed: number }> {
  const { worker, queue, visibilitySeconds, drain, signal } = options;
  const polls = queue.polls ?? options.polls ?? LONG_POLLS;
  const lanes = createLanes(options);
  const isEmpty = createEmptyCheck(queue, polls);
  const { state, handle, waitOnQueue } = createHandling(options);
  let hasPolled = false;
  const poll = async (): Promise<'empty' | 'polled'> => {
    const { isIdle: wasIdle } = lanes.room();
    // Exact counts show that the queue is empty without a poll.
    if (drain && wasIdle && polls.areCountsExact === true && (await isEmpty({ foundNothing: true })))
      return 'empty';
    const messages = await queue.receive({ ...askFor(lanes.room(), queue, polls), visibilitySeconds });
    hasPolled = true;
    for (const message of messages) {
      const lane = sendsMany(typeIn(message.body)) ? 'long' : 'short';
      if (lanes.room()[lane] > 0) lanes.add(lane, handle(message));
      else await waitOnQueue(message);
    }
    const foundNothing = wasIdle && messages.length === 0 && state.dueAtMs <= worker.now();
    return drain && polls.areCountsExact !== true && (await isEmpty({ foundNothing })) ? 'empty' : 'polled';
  };
  const checkAgain = async () => {
    state.areServicesUnavailable = await checkServices(worker);
  };
  const mayBeUnavailable = () => options.isWatched !== true || hasPolled;
  try {
    while (!signal.aborted && state.diskFault === undefined) {
      const { short, long } = lanes.room();
      if (short === 0 && (long === 0 || !queue.knowsTypes)) await lanes.anyEnd();
      else if ((short === 0 || long === 0) && (await lanes.anyEndWithin(pollMs(queue)))) continue;
      else if (state.areServicesUnavailable)
        await untilAvailable(SERVICES, checkAgain, { ...options, waitMs });
      else if ((await untilAvailable('the queue', poll, { ...options, mayBeUnavailable })) === 'empty') break;
    }
  } finally {
    await lanes.all();
  }
  if (state.diskFault !== undefined) throw state.diskFault;
  return state.counts;
}

/** Handles messages, and collects what the loop over the queue needs to know. */
function createHandling(options: WorkOptions) {
  const { worker, visibilitySeconds } = options;
  const hiddenMs = visibilitySeconds * 1_000;
  const state = {
    counts: { done: 0, later: 0, failed: 0 },
    /** When the last requeued message is due. The queue's counts may be too old to include that message. */
    dueAtMs: 0,
    areServicesUnavailable: false,
    diskFault: undefined as unknown,
  };
  const isDueIn = (delayMs: number) => {
    state.dueAtMs = Math.max(state.dueAtMs, worker.now() + delayMs);
  };
  return {
    state,
    async handle(message: QueueMessage): Promise<void> {
      const handled = await handleOne(message, options);
      state.counts[handled.kind === 'replaced' ? 'later' : handled.kind] += 1;
      if (handled.kind !== 'done') isDueIn(handled.delayMs ?? hiddenMs);
      state.areServicesUnavailable ||= handled.isUnavailable === true;
      state.diskFault ??= handled.fault;
    },
    async waitOnQueue(message: QueueMessage): Promise<void> {
      const { delayMs = hiddenMs } = await requeue(message, { delayMs: NO_ROOM_MS }, options);
      isDueIn(delayMs);
    },
  };
}

/**
 * The time between two polls, in milliseconds, while a worker has room only for short jobs or only for long jobs. A
 * queue that knows types scans all due messages, which takes 0.1 µs each. A queue that does not returns messages of both
 * kinds, and the worker requeues the messages for which it has no room.
 */
const pollMs = ({ knowsTypes }: Queue) => (knowsTypes ? 1_000 : 500);

/** The delay of a message for which there is no room, so that the queue first returns the messages behind it. */
const NO_ROOM_MS = 10_000;

/**
 * The messages to ask for. A queue that does not know types may return messages of long jobs for which there is
 * no room; the worker requeues these.
 */
const askFor = (
  { short, long }: { readonly short: number; readonly long: number },
  { knowsTypes }: Queue,
  { waitSeconds }: Polls,
) =>
  knowsTypes
    ? {
        max: short,
        long: { types: longTypes, max: long },
        waitSeconds: short > 0 && long > 0 ? waitSeconds : 0,
      }
    : { max: Math.min(10, short, long || short), waitSeconds: long > 0 ? waitSeconds : 1 };

function createLanes({ concurrency, sleep }: WorkOptions) {
  const running = { short: new Set<Promise<void>>(), long: new Set<Promise<void>>() };
  const all = () => [...running.short, ...running.long];
  return {
    room: () => ({
      short: concurrency - running.short.size,
      long: concurrency - running.long.size,
      isIdle: all().length === 0,
    }),
    add(lane: keyof typeof running, handling: Promise<void>) {
      const one = handling.finally(() => running[lane].delete(one));
      running[lane].add(one);
    },
    anyEnd: () => Promise.race(all()),
    async anyEndWithin(ms: number): Promise<boolean> {
      const ended = new AbortController();
      const over = sleep(ms, ended.signal).then(() => false);
      return await Promise.race([...all().map((one) => one.then(() => true)), over]).finally(() =>
        ended.abort(),
      );
    },
    all: () => Promise.all(all()),
  };
}

/** The id for reads that only ask whether a service responds. */
const NO_JOB = '-';

/** Checks whether the table and the store respond. Throws if one of them is unavailable; otherwise returns false. */
async function checkServices({ ledger, store }: Worker): Promise<false> {
  await Promise.all([ledger.read(NO_JOB), store.get(`work/${NO_JOB}`)]).catch((error) => {
    // Any other failure is not an outage; the next job will report it.
    if (isPassing(error)) throw error;
  });
  return false;
}

/** The next delivery of a message that met an outage need not wait: nothing is received until the outage is over. */
const NO_UNAVAILABLE_DELAY = { minDelayMs: 0, spreadMs: 1_000 };

/**
 * The time between two checks whether the table and the store are available again, in milliseconds. A check takes two
 * reads, and all jobs of the worker wait for it.
 */
const waitMs = () => 1_000;
const SERVICES = 'the table or the store';

/**
 * Repeats a request until the service is available. Returns undefined once the signal is aborted. Throws if
 * the failure is not an outage, or `mayBeUnavailable` returns false.
 */
async function untilAvailable<T>(
  what: string,
  request: () => Promise<T>,
  options: WorkOptions & {
    readonly mayBeUnavailable?: () => boolean;
    readonly waitMs?: typeof queueWaitMs;
  },
): Promise<T | undefined> {
  const { worker, sleep, signal, mayBeUnavailable = () => true, waitMs = queueWaitMs } = options;
  const { logger } = worker;
  const mayPass = (error: unknown) => isPassing(error) && mayBeUnavailable();
  const attempt = async (tries: number): Promise<T | undefined> => {
    if (signal.aborted) return undefined;
    const result = await request();
    if (tries > 1) logger.info(`${what} is available again`);
    return result;
  };
  return retryUntil(attempt, {
    now: worker.now,
    random: worker.random,
    // An abort ends the wait, and the next try then returns undefined.
    sleep: (ms) => sleep(ms, signal).catch(() => undefined),
    waitMs,
    mayPass,
    onTrouble(err, tries) {
      if (tries === 1 && mayPass(err))
        logger.warn({ err }, `${what} is unavailable; trying again until it responds`);
    },
  });
}

/** Handles a message, hides it from other workers while it does so, and deletes it if its job is done. */
async function handleOne(message: QueueMessage, options: WorkOptions): Promise<HandledDelivery> {
  const { worker, lease, queue } = options;
  const stopHiding = extendVisibility(message, options);
  const handled = await handleDelivery(message, {
    worker,
    lease,
    queue,
    stopHiding,
    unavailableDelay: NO_UNAVAILABLE_DELAY,
  });
  if (handled.kind !== 'done') return handled;
  try {
    await queue.delete(message.receipt);
    return handled;
  } catch (err) {
    worker.logger.warn(
      { messageId: message.messageId, err },
      'the message was not deleted, and will be delivered again',
    );
    return { kind: 'failed' };
  }
}

/** Extends a message's visibility timeout each time a third of it has passed, until the returned function is called. */
function extendVisibility(
  { receipt, messageId }: QueueMessage,
  { queue, visibilitySeconds, waitToExtend = sleepInTime, worker: { logger } }: WorkOptions,
): () => Promise<void> {
  const visibilityMs = visibilitySeconds * 1_000;
  const stopped = new AbortController();
  const extendUntilStopped = async () => {
    while (!stopped.signal.aborted) {
      await waitToExtend(visibilityMs / 3, stopped.signal);
      await (queue.extend ?? queue.delay)(receipt, visibilityMs).catch((err: unknown) =>
        logger.warn({ messageId, err }, 'the visibility timeout was not extended'),
      );
    }
  };
  // An abort rejects the wait.
  const extending = extendUntilStopped().catch(() => undefined);
  return async () => {
    stopped.abort();
    await extending;
  };
}

/**
 * How one delivery of a message ended. `done`: its job has ended, or the message was refused; the caller deletes
 * it. `replaced`: the message was deleted, and replaced by a new message, delayed by `delayMs`. `later`: the
 * message is delivered again, after `delayMs` or when its visibility timeout ends. `failed`: the message could not
 * be handled, and is delivered again. `isUnavailable`: the table or the store did not respond. `fault`: the disk
 * failed, so all other messages would fail in the same way.
 */
type HandledDelivery = {
  readonly kind: 'done' | 'replaced' | 'later' | 'failed';
  readonly delayMs?: number;
  readonly isUnavailable?: boolean;
  readonly fault?: unknown;
};

type DeliveryParts = {
  readonly worker: Worker;
  readonly queue: Pick<Queue, 'delay' | 'send' | 'delete'>;
  readonly lease: Lease;
  readonly stopHiding?: () => Promise<void>;
  /**
   * The delay before redelivery after an outage of the table or the store, in milliseconds, and the time over
   * which redeliveries are spread. Default: after 10 s, over 20 s.
   */
  readonly unavailableDelay?: typeof UNAVAILABLE_DELAY;
};

/**
 * The delay of a message that met an outage, in milliseconds. Each invocation finds out separately that the
 * table is unavailable, so the messages are spread.
 */
const UNAVAILABLE_DELAY = { minDelayMs: 10_000, spreadMs: 20_000 };

const TABLE_UNAVAILABLE = { problem: 'TableUnavailable' satisfies ProblemName };

/** Handles one delivery of a message, and ensures that the message is delivered again if necessary. Never throws. */
export const handleDelivery = (message: QueueMessage, parts: DeliveryParts): Promise<HandledDelivery> =>
  withIds({ messageId: message.messageId }, () => handleWithIds(message, parts));

async function handleWithIds(message: QueueMessage, parts: DeliveryParts): Promise<HandledDelivery> {
  const { worker, queue, lease, stopHiding } = parts;
  using _ = worker.inHand?.hold({ messageId: message.messageId });
  try {
    const handled = await handleMessage(message, worker, lease);
    await stopHiding?.();
    if (handled.kind === 'done') return handled;
    if (handled.kind === 'later') return await requeue(message, handled, parts);
    // This write is retried, since the job may have no other message: a job that was proved never sent needs it to
    // run again.
    const replace = () => replaceMessage(message, handled.body, queue);
    await retryUntil(replace, { ...worker, ...WRITE_RETRIES, untilMs: lease.writeUntilMs });
    return { kind: 'replaced', delayMs: 0 };
  } catch (err) {
    const problem = isPassing(err) && err instanceof TableError ? TABLE_UNAVAILABLE : {};
    worker.logger.error({ job: parsedJob(message, worker)?.job.id, err, ...problem }, 'message not handled');
    await stopHiding?.();
    // Outside of an outage the message is not delayed: its receives count until it is a dead letter.
    if (!isPassing(err)) return { kind: 'failed', ...(isOfDisk(err) && { fault: err }) };
    const { minDelayMs, spreadMs } = parts.unavailableDelay ?? UNAVAILABLE_DELAY;
    const delayMs = minDelayMs + Math.floor(worker.random() * spreadMs);
    const back = await requeue(message, { delayMs }, parts);
    return back.kind === 'replaced' ? back : { ...back, kind: 'failed', isUnavailable: true };
  }
}

/*
 * Waiting must not use up receives. The queue moves a message to the dead letters after 1,000 receives, which a pause
 * of 17 hours would reach, and deletes it when it is 14 days old. So a message that was received often, or is old, is
 * replaced by a copy. The copy has the id of the same job, so if a crash leaves both messages, they are two deliveries
 * of one job. A message that cannot be handled is not copied.
 */

/** A message is copied after this many receives: far below the queue's limit, but so many that copies are rare. */
const MAX_RECEIVES = 200;

/**
 * If the queue's limit is lower, a message is copied at its second-to-last receive: the last one is a reserve in case
 * the worker dies.
 */
const copyAfter = (maxReceives = Number.POSITIVE_INFINITY) => Math.min(MAX_RECEIVES, maxReceives - 1);

/**
 * A message is copied at this age, in milliseconds: some queues delete messages after 4 days, which is SQS's default.
 */
const MAX_AGE_MS = 3 * 24 * 60 * 60 * 1_000;

/** Maximum delay of a message that is sent, in milliseconds. */
const MAX_SEND_DELAY_MS = 900_000;

/** Returns a message to the queue, to be delivered again after `delayMs` or the queue's maximum delay. */
async function requeue(
  message: QueueMessage,
  { delayMs }: { readonly delayMs: number },
  { worker, queue }: Pick<DeliveryParts, 'worker' | 'queue'>,
): Promise<HandledDelivery> {
  const { messageId, receipt, receives, maxReceives, sentAtMs } = message;
  const { logger, now } = worker;
  if (receives >= copyAfter(maxReceives) || (sentAtMs !== undefined && now() - sentAtMs >= MAX_AGE_MS)) {
    try {
      const body = await copyOf(message, worker);
      if (body !== undefined) {
        await replaceMessage(message, body, queue, Math.min(delayMs, MAX_SEND_DELAY_MS));
        return { kind: 'replaced', delayMs };
      }
    } catch (err) {
      logger.warn({ messageId, err }, 'the message was not copied, and is delayed instead');
    }
  }
  try {
    await queue.delay(receipt, delayMs);
    return { kind: 'later', delayMs };
  } catch (err) {
    logger.warn(
      { messageId, delayMs, err },
      'the message was not delayed, and will be delivered again when its visibility timeout ends',
    );
    return { kind: 'later' };
  }
}

/** The body for a copy of a message, with the id of its job; undefined if the message is invalid. */
async function copyOf(message: QueueMessage, worker: Worker): Promise<string | undefined> {
  const { body, sender } = message;
  const { ledger } = worker;
  const parsed = parsedJob(message, worker);
  if (parsed === undefined) return undefined;
  const { job, contentHash, hasExplicitId } = parsed;
  // The sender of the copy is this worker, so the ledger stores the sender of the original message.
  await ledger.announce({ id: job.id, type: job.type, contentHash, sender }).catch((error: unknown) => {
    // A result without the first sender is better than no result.
    if (!isPassing(error)) throw error;
  });
  return hasExplicitId ? body : withId(body, job.id);
}

function parsedJob({ body, messageId }: QueueMessage, { allow }: Worker) {
  const parsed = parseMessage(body, { messageId, allow });
  return parsed.kind === 'refused' ? undefined : parsed;
}

/**
 * Replaces a message by a new one with this body, which must have the id of the job. The new message is sent before the
 * old one is deleted, so a crash in between leaves both. If this throws `AwsError`, the old message is delivered again.
 */
async function replaceMessage(
  { receipt }: QueueMessage,
  body: string,
  queue: DeliveryParts['queue'],
  delayMs = 0,
): Promise<void> {
  await queue.send([body], { delayMs });
  await queue.delete(receipt);
}

/**
 * Handles the messages of up to `concurrency` short jobs, and of as many long jobs, at the same time. Returns the ids
 * of the messages that must be delivered again.
 */
export async function runBatch(
  messages: readonly QueueMessage[],
  { concurrency, ...parts }: Omit<DeliveryParts, 'stopHiding'> & { readonly concurrency: number },
): Promise<readonly string[]> {
  const short = new PQueue({ concurrency });
  const long = new PQueue({ concurrency });
  const handled = await Promise.all(
    messages.map((message) =>
      (sendsMany(typeIn(message.body)) ? long : short).add(() => handleDelivery(message, parts)),
    ),
  );
  // The caller deletes a replaced message a second time, which does no harm.
  const isFinished = (kind: HandledDelivery['kind'] | undefined) => kind === 'done' || kind === 'replaced';
  return messages.flatMap(({ messageId }, index) => (isFinished(handled[index]?.kind) ? [] : [messageId]));
}

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
  /** How many short jobs run at once, and how many long ones (`sendsMany`): short jobs do not wait for long ones. */
  readonly concurrency: number;
  /** How long a received message stays hidden, in seconds. While its job runs, that time is extended. */
  readonly visibilitySeconds: number;
  /**
   * Whether to end when the queue is empty, which SQS shows only after 20 s of long polls. Otherwise only the
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
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How to poll a queue that has no polls of its own. Default: long polls. */
  readonly polls?: Polls | undefined;
  /** Whether a person is watching, so that it fails at once if the queue cannot be reached. Default: false. */
  readonly isWatched?: boolean | undefined;
};

/**
 * Consumes a queue in this process, as the deployed worker would, until it is stopped or the queue is empty.
 * It takes only as many messages as it has room for, and none while the table or the store is unavailable.
 * Throws permanent errors of the queue, and a failure of the disk, once all running jobs have finished.
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
    // If counts are exact, a poll that would return nothing is not needed.
    if (drain && wasIdle && polls.areCountsExact === true && (await isEmpty({ isQuiet: true })))
      return 'empty';
    const messages = await queue.receive({ ...askFor(lanes.room(), queue, polls), visibilitySeconds });
    hasPolled = true;
    for (const message of messages) {
      const lane = sendsMany(typeIn(message.body)) ? 'long' : 'short';
      if (lanes.room()[lane] > 0) lanes.add(lane, handle(message));
      else await waitOnQueue(message);
    }
    const isQuiet = wasIdle && messages.length === 0 && state.dueAtMs <= worker.now();
    return drain && polls.areCountsExact !== true && (await isEmpty({ isQuiet })) ? 'empty' : 'polled';
  };
  const look = async () => {
    state.areServicesUnavailable = await checkServices(worker);
  };
  const mayBeUnavailable = () => options.isWatched !== true || hasPolled;
  try {
    while (!signal.aborted && state.diskFault === undefined) {
      const { short, long } = lanes.room();
      if (short === 0 && (long === 0 || !queue.knowsTypes)) await lanes.one();
      else if ((short === 0 || long === 0) && (await lanes.endsWithin(lookMs(queue)))) continue;
      else if (state.areServicesUnavailable) await untilAvailable(SERVICES, look, { ...options, waitMs });
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
    /** When the last requeued message is due: the queue's counts may be too old to include it. */
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
 * How often a worker polls if it has room only for some types of jobs. A queue that knows types scans all due messages,
 * which takes 0.1 µs each. From any other queue the worker receives them, and requeues those that it has no room for.
 */
const lookMs = ({ knowsTypes }: Queue) => (knowsTypes ? 1_000 : 500);

/** The delay of a message for which there is no room, so that the queue first returns the messages behind it. */
const NO_ROOM_MS = 10_000;

/**
 * The messages to ask for. A queue that does not know types may return long messages for which there is no
 * room: they are requeued.
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
    one: () => Promise.race(all()),
    async endsWithin(ms: number): Promise<boolean> {
      const ended = new AbortController();
      const over = sleep(ms, ended.signal).then(() => false);
      return await Promise.race([...all().map((one) => one.then(() => true)), over]).finally(() =>
        ended.abort(),
      );
    },
    all: () => Promise.all(all()),
  };
}

const NOTHING = '-';

/** Checks whether the table and the store respond. Throws if one is unavailable; otherwise returns false. */
async function checkServices({ ledger, store }: Worker): Promise<false> {
  await Promise.all([ledger.read(NOTHING), store.get(`work/${NOTHING}`)]).catch((error) => {
    // Any other failure is not an outage: the next job shows its effect.
    if (isPassing(error)) throw error;
  });
  return false;
}

/** After an outage a message is delivered again at once: no message is received before the outage is over. */
const NO_UNAVAILABLE_DELAY = { minDelayMs: 0, spreadMs: 1_000 };

/**
 * How often a worker checks whether the table and the store are available again: it takes two reads, for
 * which all of its jobs wait.
 */
const waitMs = () => 1_000;
const SERVICES = 'the table or the store';

/**
 * Repeats a request while the service is unavailable; undefined if it is stopped. An outage is thrown too,
 * unless `mayBeUnavailable`.
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
    if (tries > 1) logger.info(`${what} is back`);
    return result;
  };
  return retryUntil(attempt, {
    now: worker.now,
    random: worker.random,
    // A stop ends the wait, and the next try returns.
    sleep: (ms) => sleep(ms, signal).catch(() => undefined),
    waitMs,
    mayPass,
    onTrouble(err, tries) {
      if (tries === 1 && mayPass(err))
        logger.warn({ err }, `${what} is unavailable: tried again until it responds`);
    },
  });
}

/** Handles a message, hides it from other workers meanwhile, and deletes it if it is done. */
async function handleOne(message: QueueMessage, options: WorkOptions): Promise<HandledDelivery> {
  const { worker, lease, queue } = options;
  const stopHiding = keepHidden(message, options);
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
    worker.logger.warn({ messageId: message.messageId, err }, 'message not deleted; delivered again');
    return { kind: 'failed' };
  }
}

/** Extends a message's visibility timeout after each third of it, until the returned function is called. */
function keepHidden(
  { receipt, messageId }: QueueMessage,
  { queue, visibilitySeconds, rest = sleepInTime, worker: { logger } }: WorkOptions,
): () => Promise<void> {
  const visibilityMs = visibilitySeconds * 1_000;
  const stopped = new AbortController();
  const keep = async () => {
    while (!stopped.signal.aborted) {
      await rest(visibilityMs / 3, stopped.signal);
      await (queue.extend ?? queue.delay)(receipt, visibilityMs).catch((err: unknown) =>
        logger.warn({ messageId, err }, 'visibility not extended'),
      );
    }
  };
  // The sleep ends with the signal's reason.
  const keeping = keep().catch(() => undefined);
  return async () => {
    stopped.abort();
    await keeping;
  };
}

/**
 * How one delivery of a message ended. `done`: its job has ended, or it was refused; the caller deletes the
 * message. `replaced`: the message was deleted, and replaced by another one, delayed by `delayMs`. `later`:
 * it is delivered again, after `delayMs` or when its visibility timeout ends. `failed`: it could not be
 * handled, and is delivered again too. `isUnavailable`: the table or the store did not respond. `fault`: the
 * disk failed, so all other messages would fail in the same way.
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
    // Its job may have no other message: this one reopens a job that was proved not to have been sent.
    const replace = () => replaceMessage(message, handled.body, queue);
    await retryUntil(replace, { ...worker, ...WRITE_RETRIES, untilMs: lease.writeUntilMs });
    return { kind: 'replaced', delayMs: 0 };
  } catch (err) {
    const problem = isPassing(err) && err instanceof TableError ? TABLE_UNAVAILABLE : {};
    worker.logger.error({ job: parsedJob(message, worker)?.job.id, err, ...problem }, 'message not handled');
    await stopHiding?.();
    // A fault that is not an outage counts towards the dead letters.
    if (!isPassing(err)) return { kind: 'failed', ...(isOfDisk(err) && { fault: err }) };
    const { minDelayMs, spreadMs } = parts.unavailableDelay ?? UNAVAILABLE_DELAY;
    const delayMs = minDelayMs + Math.floor(worker.random() * spreadMs);
    const back = await requeue(message, { delayMs }, parts);
    return back.kind === 'replaced' ? back : { ...back, kind: 'failed', isUnavailable: true };
  }
}

/*
 * Waiting must not use up receives. The queue moves a message to the dead letters after 1,000 receives, which
 * a pause of 17 hours would reach, and deletes it when it is 14 days old. So a message that was received
 * often, or is old, is replaced by a copy. The copy has the id of its job: if a crash leaves both, they are
 * two deliveries of one job. A message that cannot be handled is not copied.
 */

/** A message is copied after this many receives: far below the queue's limit, and rarely enough to cost little. */
const MAX_RECEIVES = 200;

/** If the queue's limit is lower, a message is copied when it has one receive left, for a worker that dies. */
const copyAfter = (maxReceives = Number.POSITIVE_INFINITY) => Math.min(MAX_RECEIVES, maxReceives - 1);

/**
 * A message is copied at this age, in milliseconds: some queues delete messages after 4 days, which is SQS's default.
 */
const OLDEST_MS = 3 * 24 * 60 * 60 * 1_000;

/** Maximum delay of a message that is sent, in milliseconds. */
const MAX_SEND_DELAY_MS = 900_000;

/** Requeues a waiting message, for `delayMs` or the queue's limit. */
async function requeue(
  message: QueueMessage,
  { delayMs }: { readonly delayMs: number },
  { worker, queue }: Pick<DeliveryParts, 'worker' | 'queue'>,
): Promise<HandledDelivery> {
  const { messageId, receipt, receives, maxReceives, sentAtMs } = message;
  const { logger, now } = worker;
  if (receives >= copyAfter(maxReceives) || (sentAtMs !== undefined && now() - sentAtMs >= OLDEST_MS)) {
    try {
      const body = await copyOf(message, worker);
      if (body !== undefined) {
        await replaceMessage(message, body, queue, Math.min(delayMs, MAX_SEND_DELAY_MS));
        return { kind: 'replaced', delayMs };
      }
    } catch (err) {
      logger.warn({ messageId, err }, 'message not copied; delayed instead');
    }
  }
  try {
    await queue.delay(receipt, delayMs);
    return { kind: 'later', delayMs };
  } catch (err) {
    logger.warn(
      { messageId, delayMs, err },
      'message not delayed; delivered again when its visibility timeout ends',
    );
    return { kind: 'later' };
  }
}

/** The body of a copy; undefined if the message has no job, so that a copy could not keep its id. */
async function copyOf(message: QueueMessage, worker: Worker): Promise<string | undefined> {
  const { body, sender } = message;
  const { ledger } = worker;
  const parsed = parsedJob(message, worker);
  if (parsed === undefined) return undefined;
  const { job, contentHash, hasExplicitId } = parsed;
  // The worker sends the copy, so the ledger stores who sent the original message.
  await ledger.announce({ id: job.id, type: job.type, contentHash, sender }).catch((error: unknown) => {
    // It is better to have a result without the first sender than none.
    if (!isPassing(error)) throw error;
  });
  return hasExplicitId ? body : withId(body, job.id);
}

function parsedJob({ body, messageId }: QueueMessage, { allow }: Worker) {
  const parsed = parseMessage(body, { messageId, allow });
  return parsed.kind === 'refused' ? undefined : parsed;
}

/**
 * Replaces a message by one with another body, which must name its job. The new message is sent before the old one is
 * deleted: if it crashes in between, both remain. Throws `AwsError`; then the old message is delivered again.
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

/** Handles messages side by side, short ones beside long ones. Returns the ids of those that were not finished. */
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
  // A replaced message was deleted already; deleting it twice does no harm.
  const isFinished = (kind: HandledDelivery['kind'] | undefined) => kind === 'done' || kind === 'replaced';
  return messages.flatMap(({ messageId }, index) => (isFinished(handled[index]?.kind) ? [] : [messageId]));
}

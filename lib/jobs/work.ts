import { delayOrWarn } from './delay-or-warn.ts';
import { handleMessage, type Lease, type Worker } from './handle-message.ts';
import { createEmptyCheck, LONG_POLLS, type Polls } from './queue/empty-queue.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';
import { replaceMessage } from './queue/replace-message.ts';

export type WorkOptions = {
  readonly worker: Worker;
  readonly lease: Lease;
  readonly queue: Queue;
  /** How many jobs run at once. */
  readonly concurrency: number;
  /** How long a message is hidden from other receivers at a time; extended while its job runs. */
  readonly visibilitySeconds: number;
  /** End when the queue is empty, which takes more than 20 s of long polls to know; otherwise only on the signal. */
  readonly drain: boolean;
  /** Ends the work: running jobs are finished, and no new ones are started. */
  readonly signal: AbortSignal;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Long polls if not given. */
  readonly polls?: Polls | undefined;
  /** Called for each message that is refused, and again if the message is delivered again. */
  readonly onRefused?: (messageId: string) => void;
};

export type WorkCounts = { readonly done: number; readonly later: number; readonly failed: number };

/**
 * Consumes a queue in this process, as the deployed worker would, until it is stopped or there is nothing left. It
 * takes no more messages than it has room for. Throws what the queue throws, once all running jobs have finished.
 */
export async function work(options: WorkOptions): Promise<WorkCounts> {
  const { queue, concurrency, visibilitySeconds, drain, signal, sleep, polls = LONG_POLLS } = options;
  const { waitSeconds } = polls;
  const running = new Set<Promise<void>>();
  const counts = { done: 0, later: 0, failed: 0 };
  const comingBack = createComingBack(options.worker.now);
  const isEmpty = createEmptyCheck(queue, polls);
  const begin = (message: QueueMessage) => {
    comingBack.received(message);
    const one = handleOne(message, options).then(({ kind, backAfterMs }) => {
      counts[kind] += 1;
      if (kind === 'done') comingBack.deleted(message);
      if (backAfterMs !== undefined) comingBack.add(message, backAfterMs);
      running.delete(one);
    });
    running.add(one);
  };
  try {
    while (!signal.aborted) {
      if (running.size >= concurrency) {
        await Promise.race(running);
        continue;
      }
      if (await isAway(options)) continue;
      const most = Math.min(10, concurrency - running.size);
      const wasIdle = running.size === 0;
      const messages = await queue.receive({ most, waitSeconds, visibilitySeconds });
      messages.forEach(begin);
      const isQuiet = wasIdle && messages.length === 0 && !comingBack.any();
      if (drain && (await isEmpty({ isQuiet }))) break;
      if (messages.length === 0 && waitSeconds === 0)
        await sleep(CHECK_EVERY_MS, signal).catch(() => undefined);
    }
  } finally {
    await Promise.all(running);
  }
  return counts;
}

/** Whether the platform is away. Then it has waited a little, or probed: nothing is received until it is back. */
async function isAway({ worker: { breaker }, signal, sleep }: WorkOptions): Promise<boolean> {
  if (breaker?.knownBlockedMs() === undefined) return false;
  const blockedMs = await breaker.blockedMs();
  if (blockedMs === undefined) return false;
  await sleep(Math.min(blockedMs, CHECK_AWAY_MS), signal).catch(() => undefined);
  return true;
}

/** How often to check whether the platform is back; another worker may have found out. */
const CHECK_AWAY_MS = 1_000;

/** How long to wait before the next poll where polls do not wait. */
const CHECK_EVERY_MS = 200;

/** How many messages are remembered as deleted: a copy is delivered soon after its message, or hardly ever. */
const MOST_DELETED = 10_000;

/**
 * Messages that went back to the queue. Its counts may be too old to include them. A copy of a message goes back while
 * its job runs; once the message is deleted, nothing is waited for.
 */
function createComingBack(now: () => number) {
  const dueAtMs = new Map<string, number>();
  const deleted = new Set<string>();
  return {
    add({ messageId }: QueueMessage, afterMs: number) {
      if (!deleted.has(messageId)) dueAtMs.set(messageId, now() + afterMs);
    },
    deleted({ messageId }: QueueMessage) {
      dueAtMs.delete(messageId);
      deleted.add(messageId);
      const [oldest] = deleted;
      if (deleted.size > MOST_DELETED && oldest !== undefined) deleted.delete(oldest);
    },
    received({ messageId }: QueueMessage) {
      dueAtMs.delete(messageId);
    },
    /** Whether any is not due yet. */
    any: () => dueAtMs.values().some((atMs) => atMs > now()),
  };
}

/** How a message was handled, and when it comes back if it does. */
type HandledOne = { readonly kind: keyof WorkCounts; readonly backAfterMs?: number };

async function handleOne(message: QueueMessage, options: WorkOptions): Promise<HandledOne> {
  const { worker, lease, queue } = options;
  const stop = keepHidden(message, options);
  const onRefused = () => {
    worker.onRefused?.();
    options.onRefused?.(message.messageId);
  };
  try {
    const handled = await handleMessage(message, { ...worker, onRefused }, lease);
    await stop();
    if (handled.kind === 'done') {
      await queue.delete(message.receipt);
      return { kind: 'done' };
    }
    if (handled.kind === 'replace') {
      await replaceMessage(message, handled.body, queue);
      return { kind: 'later' };
    }
    const isDelayed = await delayOrWarn(message, handled.delayMs, { queue, logger: worker.logger });
    return { kind: 'later', backAfterMs: isDelayed ? handled.delayMs : options.visibilitySeconds * 1000 };
  } catch (err) {
    worker.logger.error({ messageId: message.messageId, err }, 'message not handled');
    return { kind: 'failed', backAfterMs: options.visibilitySeconds * 1000 };
  } finally {
    await stop();
  }
}

/** Extends a message's visibility timeout after each third of it, until the returned function is called. */
function keepHidden(
  { receipt, messageId }: QueueMessage,
  { queue, visibilitySeconds, worker: { logger } }: WorkOptions,
): () => Promise<void> {
  let underWay = Promise.resolve();
  const timer = setInterval(
    () => {
      underWay = queue
        .delay(receipt, visibilitySeconds * 1000)
        .catch((err: unknown) => logger.warn({ messageId, err }, 'visibility not extended'));
    },
    (visibilitySeconds * 1000) / 3,
  );
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

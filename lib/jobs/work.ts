import { handleMessage, type Lease, type Worker } from './handle-message.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';

export type WorkOptions = {
  readonly worker: Worker;
  readonly lease: Lease;
  readonly queue: Queue;
  /** How many jobs run at once. */
  readonly concurrency: number;
  /** How long a message is hidden from other receivers at a time; extended while its job runs. */
  readonly visibilitySeconds: number;
  /** End when the queue is empty; otherwise only on the signal. */
  readonly drain: boolean;
  /** Ends the work: running jobs are finished, and no new ones are started. */
  readonly signal: AbortSignal;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Called for each message that is refused, and again if the message is delivered again. */
  readonly onRefused?: (messageId: string) => void;
};

export type WorkCounts = { readonly done: number; readonly later: number; readonly failed: number };

/** Polls are short enough for Ctrl-C: aborting one would hide the next message for its visibility timeout. */
const WAIT_SECONDS = 2;

/**
 * Consumes a queue in this process, as the deployed worker would, until it is stopped or there is nothing left. It
 * takes no more messages than it has room for. Throws what the queue throws, once all running jobs have finished.
 */
export async function work(options: WorkOptions): Promise<WorkCounts> {
  const { queue, concurrency, visibilitySeconds, drain, signal, sleep } = options;
  const running = new Set<Promise<void>>();
  const counts = { done: 0, later: 0, failed: 0 };
  const begin = (message: QueueMessage) => {
    const one = handleOne(message, options).then((kind) => {
      counts[kind] += 1;
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
      const most = Math.min(10, concurrency - running.size);
      const waitSeconds = running.size > 0 || drain ? 0 : WAIT_SECONDS;
      const messages = await queue.receive({ most, waitSeconds, visibilitySeconds });
      messages.forEach(begin);
      if (messages.length > 0) continue;
      if (running.size === 0 && drain && isEmpty(await queue.counts())) break;
      if (waitSeconds === 0) await sleep(CHECK_EVERY_MS, signal).catch(() => undefined);
    }
  } finally {
    await Promise.all(running);
  }
  return counts;
}

/** How long to wait before checking an empty queue again. */
const CHECK_EVERY_MS = 200;

const isEmpty = ({ waiting, inFlight, delayed }: Awaited<ReturnType<Queue['counts']>>) =>
  waiting + inFlight + delayed === 0;

async function handleOne(message: QueueMessage, options: WorkOptions): Promise<keyof WorkCounts> {
  const { worker, lease, queue } = options;
  const stop = keepHidden(message, options);
  const onRefused = () => {
    worker.onRefused?.();
    options.onRefused?.(message.messageId);
  };
  try {
    const handled = await handleMessage(message, { ...worker, onRefused }, lease);
    await stop();
    if (handled.kind === 'done') await queue.delete(message.receipt);
    else await queue.delay(message.receipt, handled.delayMs);
    return handled.kind;
  } catch (err) {
    worker.logger.error({ messageId: message.messageId, err }, 'message not handled');
    return 'failed';
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

import { handleMessage, type Lease, type Worker } from './handle-message.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';

export type WorkOptions = {
  readonly worker: Worker;
  readonly lease: Lease;
  readonly queue: Queue;
  /** Jobs at once. */
  readonly concurrency: number;
  /** How long a message is nobody else's at a time; prolonged while its job runs. */
  readonly visibilitySeconds: number;
  /** End when the queue holds nothing more; else only with the signal. */
  readonly drain: boolean;
  /** Ends the work: what runs is finished, nothing new is begun. */
  readonly signal: AbortSignal;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Called for each message that is refused; again where the message comes back. */
  readonly onRefused?: (messageId: string) => void;
};

export type WorkCounts = { readonly done: number; readonly later: number; readonly failed: number };

/** Waits that are short enough for Ctrl-C: an aborted one would hide the next message for its visibility. */
const WAIT_SECONDS = 2;

/**
 * Consumes a queue in this process, as the deployed worker would, until it is told to stop or there is nothing left.
 * No more messages are taken than there is room for. Throws what the queue throws, once all that runs has ended.
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
      if (waitSeconds === 0) await sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
    }
  } finally {
    await Promise.all(running);
  }
  return counts;
}

/** Between two looks into a queue that was empty. */
const LOOK_EVERY_MS = 200;

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

/** Prolongs a message's visibility at a third of it, until the function that it answers is called. */
function keepHidden(
  { receipt, messageId }: QueueMessage,
  { queue, visibilitySeconds, worker: { logger } }: WorkOptions,
): () => Promise<void> {
  let underWay = Promise.resolve();
  const timer = setInterval(
    () => {
      underWay = queue
        .delay(receipt, visibilitySeconds * 1000)
        .catch((err: unknown) => logger.warn({ messageId, err }, 'visibility not prolonged'));
    },
    (visibilitySeconds * 1000) / 3,
  );
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

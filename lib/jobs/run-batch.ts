import PQueue from 'p-queue';
import { delayOrWarn } from './delay-or-warn.ts';
import { type Handled, handleMessage, type Lease, type Worker } from './handle-message.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';
import { replaceMessage } from './queue/replace-message.ts';

export type BatchOptions = {
  readonly worker: Worker;
  readonly lease: Lease;
  /** Sets when a message is delivered again, and takes the messages that replace others. */
  readonly queue: Pick<Queue, 'delay' | 'send' | 'delete'>;
  /** How many jobs run at once. */
  readonly concurrency: number;
};

/**
 * Handles messages side by side, and returns the ids of those that are not finished with. A message that fails is
 * logged and delivered again; it never fails its neighbours.
 */
export async function runBatch(
  messages: readonly QueueMessage[],
  { worker, lease, queue, concurrency }: BatchOptions,
): Promise<readonly string[]> {
  const running = new PQueue({ concurrency });
  const handled = await Promise.all(
    messages.map((message) => running.add(() => handleOne(message, worker, lease, queue))),
  );
  return messages.flatMap(({ messageId }, index) => (handled[index]?.kind === 'done' ? [] : [messageId]));
}

async function handleOne(
  message: QueueMessage,
  worker: Worker,
  lease: Lease,
  queue: BatchOptions['queue'],
): Promise<Exclude<Handled, { readonly kind: 'replace' }>> {
  try {
    const handled = await handleMessage(message, worker, lease);
    if (handled.kind === 'replace') {
      await replaceMessage(message, handled.body, queue);
      return { kind: 'done' };
    }
    if (handled.kind === 'later')
      await delayOrWarn(message, handled.delayMs, { queue, logger: worker.logger });
    return handled;
  } catch (err) {
    worker.logger.error({ messageId: message.messageId, err }, 'message not handled');
    return { kind: 'later', delayMs: 0 };
  }
}

import PQueue from 'p-queue';
import type { Worker } from './handle-message.ts';
import { type HandledOnce, handleOnce } from './handle-once.ts';
import type { Lease } from './held.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';

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
    messages.map((message) => running.add(() => handleOnce(message, { worker, lease, queue }))),
  );
  // One that was replaced is deleted already, which does no harm twice.
  const isFinished = (kind: HandledOnce['kind'] | undefined) => kind === 'done' || kind === 'replaced';
  return messages.flatMap(({ messageId }, index) => (isFinished(handled[index]?.kind) ? [] : [messageId]));
}

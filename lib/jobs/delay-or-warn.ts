import type { Logger } from 'pino';
import type { Queue, QueueMessage } from './queue/queue.ts';

/**
 * Delays a message that was handled and goes back to the queue. If the queue refuses, warns and returns false: the
 * message is delivered again when its visibility timeout ends.
 */
export async function delayOrWarn(
  { messageId, receipt }: QueueMessage,
  delayMs: number,
  { queue, logger }: { readonly queue: Pick<Queue, 'delay'>; readonly logger: Logger },
): Promise<boolean> {
  try {
    await queue.delay(receipt, delayMs);
    return true;
  } catch (err) {
    logger.warn(
      { messageId, delayMs, err },
      'message not delayed; delivered again when its visibility timeout ends',
    );
    return false;
  }
}

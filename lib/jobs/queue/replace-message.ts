import type { Queue, QueueMessage } from './queue.ts';

/**
 * Replaces a message by one with another body, on the same queue. The new one is sent before the old one is deleted,
 * so a crash between leaves both, and the old one is replaced again: the new body must name its job, so that two of it
 * are one job. It is delivered after `delayMs`, at most 15 minutes. Throws `AwsError`, `UnsentError` among them: then the old message is still there and comes back.
 */
export async function replaceMessage(
  { receipt }: Pick<QueueMessage, 'receipt'>,
  body: string,
  queue: Pick<Queue, 'send' | 'delete'>,
  delayMs = 0,
): Promise<void> {
  await queue.send([body], { delayMs });
  await queue.delete(receipt);
}

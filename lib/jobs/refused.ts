import type { Store } from '../store/store.ts';
import type { QueueMessage } from './queue/queue.ts';

/** Where a message lies that could not become a job. */
export const refusedKey = (messageId: string) => `refused/${messageId}.json`;

/** Keeps a message that could not become a job, with every reason, and answers its key. */
export async function keepRefused(
  store: Store,
  { messageId, body, sender, sentAtMs }: QueueMessage,
  faults: readonly string[],
): Promise<string> {
  const key = refusedKey(messageId);
  const sentAt = sentAtMs === undefined ? null : new Date(sentAtMs).toISOString();
  const kept = { version: 1, messageId, sender, sentAt, faults, body };
  await store.put(key, Buffer.from(`${JSON.stringify(kept)}\n`), { contentType: 'application/json' });
  return key;
}

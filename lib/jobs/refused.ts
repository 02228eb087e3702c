import { keySegment, type Store } from '../store/index.ts';
import type { QueueMessage } from './queue/queue.ts';

/** The key of a message that could not become a job. */
const refusedKey = (messageId: string) => `refused/${keySegment(messageId)}.json`;

/** Stores a message that could not become a job, with every reason, and returns its key. */
export async function storeRefused(
  store: Store,
  { messageId, body, sender, sentAtMs }: QueueMessage,
  faults: readonly string[],
): Promise<string> {
  const key = refusedKey(messageId);
  const sentAt = sentAtMs === undefined ? null : new Date(sentAtMs).toISOString();
  const refused = { version: 1, messageId, sender, sentAt, faults, body };
  await store.put(key, Buffer.from(`${JSON.stringify(refused)}\n`), { contentType: 'application/json' });
  return key;
}

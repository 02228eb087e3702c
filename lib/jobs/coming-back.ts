import type { QueueMessage } from './queue/queue.ts';

/** How many messages are remembered as deleted: a copy is delivered soon after its message, or hardly ever. */
const MOST_DELETED = 10_000;

/**
 * Messages that went back to the queue. Its counts may be too old to include them. A copy of a message goes back while
 * its job runs; once the message is deleted, nothing is waited for.
 */
export function createComingBack(now: () => number) {
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

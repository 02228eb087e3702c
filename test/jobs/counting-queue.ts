import type { Queue, QueueMessage } from '../../lib/jobs/queue/queue.ts';

const HOUR = 3_600_000;
const MAX_RECEIVES = 1_000;
const RETENTION_MS = 14 * 24 * HOUR;
const MAX_DELAY_MS = 11.6 * HOUR;

type Queued = QueueMessage & { readonly sentAtMs: number; readonly visibleAtMs: number };

/**
 * A queue with these messages that counts receives as SQS does, and drops a message that was received too often or is
 * too old into `lost`. A message that was delayed moves to the end.
 */
export function countingQueue(
  now: () => number,
  bodies: readonly string[],
  maxReceives: number = MAX_RECEIVES,
) {
  const queued = new Map<string, Queued>();
  const lost: QueueMessage[] = [];
  const seen = { mostReceives: 0, copies: 0 };
  let sent = 0;
  const put = (body: string, sender: string, delayMs = 0) => {
    sent += 1;
    const [receipt, sentAtMs] = [`r-${sent}`, now()];
    const made = { messageId: `m-${sent}`, body, sender, receives: 0, maxReceives, receipt, sentAtMs };
    queued.set(receipt, { ...made, visibleAtMs: sentAtMs + delayMs });
  };
  for (const body of bodies) put(body, 'AIDASUBMITTER');
  const queue: Pick<Queue, 'send' | 'delete' | 'delay'> = {
    async send(copies, { delayMs = 0 } = {}) {
      seen.copies += copies.length;
      for (const body of copies) put(body, 'AROAWORKER', delayMs);
    },
    delete: async (receipt) => void queued.delete(receipt),
    async delay(receipt, delayMs) {
      const message = queued.get(receipt);
      queued.delete(receipt);
      const visibleAtMs = now() + Math.min(delayMs, MAX_DELAY_MS);
      if (message) queued.set(receipt, { ...message, visibleAtMs });
    },
  };
  return {
    queue,
    lost,
    seen,
    visibleAt: () => [...queued.values()].map(({ visibleAtMs }) => visibleAtMs),
    receive(max: number, hiddenMs: number): readonly QueueMessage[] {
      const visible = queued.values().filter(({ visibleAtMs }) => visibleAtMs <= now());
      return [...visible.take(max)].flatMap((message) => {
        const received = { ...message, receives: message.receives + 1, visibleAtMs: now() + hiddenMs };
        seen.mostReceives = Math.max(seen.mostReceives, received.receives);
        const isLost = received.receives > maxReceives || now() - message.sentAtMs > RETENTION_MS;
        if (isLost) lost.push(message);
        if (isLost) queued.delete(message.receipt);
        else queued.set(message.receipt, received);
        return isLost ? [] : [received];
      });
    },
  };
}

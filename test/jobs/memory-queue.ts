import { setImmediate as turn } from 'node:timers/promises';
import type { Queue, QueueMessage } from '../../lib/jobs/queue/queue.ts';

/** A queue in memory that keeps the order of messages. A received one stays hidden until it is deleted. */
export function memoryQueue(
  first: readonly string[] = [],
): Queue & { readonly bodies: () => readonly string[] } {
  let made = 0;
  const toMessage = (body: string): QueueMessage => {
    made += 1;
    return { messageId: `m-${made}`, body, sender: 'AIDAEXAMPLE', receives: 1, receipt: `r-${made}` };
  };
  const waiting = first.map(toMessage);
  const hidden = new Map<string, QueueMessage>();
  return {
    bodies: () => [...waiting, ...hidden.values()].map(({ body }) => body),
    async send(bodies) {
      waiting.push(...bodies.map(toMessage));
    },
    async receive({ max }) {
      // Like a poll over a network, it lets other tasks run.
      await turn();
      const messages = waiting.splice(0, max);
      for (const message of messages) hidden.set(message.receipt, message);
      return messages;
    },
    async delete(receipt) {
      hidden.delete(receipt);
    },
    delay: async () => undefined,
    counts: async () => ({ waiting: waiting.length, inFlight: hidden.size, delayed: 0 }),
  };
}

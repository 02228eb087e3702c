import { randomUUID } from 'node:crypto';
import { listOf, type Members, membersOf } from '../aws-request.ts';
import { createNowAndThen } from '../now-and-then.ts';
import { succeeded, toJson } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { askForOthers, entriesOf, queueNameOf } from './batches.ts';

/** One in this number of deliveries is repeated. */
const DELIVERIES_PER_REPEAT = 30;

/** A copy is delivered between these times after the message, even if the message was deleted meanwhile, or never. */
const EARLIEST_MS = 50;
const LATEST_MS = 10_000;

/** A copy of a message is delivered although the message is hidden, or was deleted. */
export const deliveriesRepeat = {
  service: 'sqs',
  kind: 'weak',
  says: 'A message is delivered at least once: a server that was unavailable may deliver its copy again, though the message was deleted or is hidden.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html',
  create: ({ random, now }) => {
    const isHit = createNowAndThen(random, DELIVERIES_PER_REPEAT);
    const waiting: Copy[] = [];
    /** The receipts of copies. Requests with them do not affect the messages. */
    const receipts = new Set<unknown>();
    const takeCopy = (queue: string): Members | undefined => {
      const index = waiting.findIndex((copy) => copy.queue === queue && now() - copy.atMs >= EARLIEST_MS);
      const [copy] = index < 0 ? [] : waiting.splice(index, 1);
      if (copy === undefined || now() - copy.atMs > LATEST_MS) return undefined;
      const ReceiptHandle = randomUUID();
      receipts.add(ReceiptHandle);
      return { ...copy.message, ReceiptHandle };
    };
    return async (request, next) => {
      if (request.operation === 'ReceiveMessage') {
        const queue = queueNameOf(request);
        const copy = takeCopy(queue);
        if (copy !== undefined) return toJson({ Messages: [copy] });
        const reply = await next(request);
        for (const message of listOf(succeeded(reply)?.['Messages']))
          if (isHit()) waiting.push({ queue, message, atMs: now() });
        return reply;
      }
      if (receipts.has(membersOf(request)['ReceiptHandle'])) return toJson({});
      const ofCopies = entriesOf(request).filter(({ ReceiptHandle }) => receipts.has(ReceiptHandle));
      return askForOthers(request, next, {
        failed: new Map(),
        succeeded: new Map(ofCopies.map((entry) => [entry, {}])),
      });
    };
  },
} as const satisfies Rule;

type Copy = { readonly queue: string; readonly message: Members; readonly atMs: number };

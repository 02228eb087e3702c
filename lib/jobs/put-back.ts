import type { Logger } from 'pino';
import type { Worker } from './handle-message.ts';
import { parseMessage } from './message/message.ts';
import { withId } from './message/with-id.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';
import { replaceMessage } from './queue/replace-message.ts';
import { isServiceAway } from './service-away.ts';

/*
 * Waiting spends no receives. The queue counts how often a message was received, and moves it to the dead letters at
 * 1,000, which a pause of 17 hours would reach; and it deletes it without a word when it is 14 days old. So a message
 * that has been received often, or is old, does not go back itself: a copy of it does, which starts again at nothing.
 * The copy names its job, so if a crash leaves both, they are two deliveries of one job.
 *
 * Only what waits is copied. A message that cannot be handled through a fault of its own, or of this code, still ends
 * among the dead letters. What waits is copied without end: it waits for a time that it names itself, or for a person
 * who paused the fleet, and both may take longer than any limit.
 */

/** A message is copied after this many receives: far from the queue's limit, and rare enough to cost little. */
const MOST_RECEIVES = 200;

/** After so many it is copied without the table, too. */
const MOST_RECEIVES_AWAY = 2 * MOST_RECEIVES;

/** A message is copied at this age, in milliseconds: some queues delete messages after 4 days, SQS's default. */
const OLDEST_MS = 3 * 24 * 60 * 60 * 1_000;

/** How long the queue can delay a message that is sent. */
const LONGEST_SEND_DELAY_MS = 900_000;

export type PutBackParts = {
  readonly worker: Worker;
  readonly queue: Pick<Queue, 'delay' | 'send' | 'delete'>;
};

/** What happened to the message: on the queue again, replaced by a copy, or still hidden until its visibility timeout ends. */
export type PutBack = 'delayed' | 'replaced' | 'not-delayed';

/** Puts a message that waits back on the queue, for `delayMs` or a shorter time if that is the queue's limit. */
export async function putBack(
  message: QueueMessage,
  delayMs: number,
  { worker, queue }: PutBackParts,
): Promise<PutBack> {
  const { logger } = worker;
  if (isWorn(message, worker.now())) {
    try {
      if (await copy(message, delayMs, { worker, queue })) return 'replaced';
    } catch (err) {
      logger.warn({ messageId: message.messageId, err }, 'message not copied; delayed instead');
    }
  }
  return (await delayOrWarn(message, delayMs, { queue, logger })) ? 'delayed' : 'not-delayed';
}

const isWorn = ({ receives, sentAtMs }: QueueMessage, nowMs: number): boolean =>
  receives >= MOST_RECEIVES || (sentAtMs !== undefined && nowMs - sentAtMs >= OLDEST_MS);

/** False if the message is not a job's, so nothing is known that a copy could keep the same. */
async function copy(
  message: QueueMessage,
  delayMs: number,
  { worker: { ledger, allow }, queue }: PutBackParts,
): Promise<boolean> {
  const { body, messageId, sender } = message;
  const parsed = parseMessage(body, { messageId, allow });
  if (parsed.kind === 'refused') return false;
  const { job, contentHash, isNamed } = parsed;
  // A copy is sent by the worker: the ledger remembers who sent the message.
  await ledger.announce({ id: job.id, type: job.type, contentHash, sender }).catch((error: unknown) => {
    // Better a result without the first sender than none.
    if (!isServiceAway(error) || message.receives < MOST_RECEIVES_AWAY) throw error;
  });
  const copied = isNamed ? body : withId(body, job.id);
  await replaceMessage(message, copied, queue, Math.min(delayMs, LONGEST_SEND_DELAY_MS));
  return true;
}

/**
 * Delays a message that was handled and goes back to the queue. If the queue refuses, warns and returns false: the
 * message is delivered again when its visibility timeout ends.
 */
async function delayOrWarn(
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

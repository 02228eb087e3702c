import PQueue from 'p-queue';
import { isOfDisk, isPassing, type ProblemName, withIds } from '../base/index.ts';
import { TableError } from '../table/index.ts';
import { handleMessage, type Worker } from './handle-message.ts';
import type { Lease } from './held.ts';
import { withId } from './message/check-message.ts';
import { parseMessage } from './message/message.ts';
import { type Queue, type QueueMessage, typeIn } from './queue/queue.ts';
import { persist } from './record-end.ts';
import { sendsMany } from './types/job-types.ts';

/**
 * How one delivery of a message ended. `done`: its job has ended, or it was refused; the caller deletes it. `replaced`: it
 * was replaced by another message, which comes after `delayMs`, and is deleted. `later`: it comes back, after `delayMs` or
 * else when its visibility timeout ends. `failed`: the same, since it could not be handled; `isAway`: the table or the store
 * did not respond; `fault`: the disk failed, so all others would meet the same.
 */
export type HandledOnce = {
  readonly kind: 'done' | 'replaced' | 'later' | 'failed';
  readonly delayMs?: number;
  readonly isAway?: boolean;
  readonly fault?: unknown;
};

type HandleOnceParts = {
  readonly worker: Worker;
  readonly queue: Pick<Queue, 'delay' | 'send' | 'delete'>;
  readonly lease: Lease;
  readonly stopHiding?: () => Promise<void>;
  /**
   * How soon a message comes back that met a table or a store that was away, in milliseconds, and over what time they are
   * spread. Default: after 10 s, over 20 s.
   */
  readonly away?: typeof AWAY;
};

/** For invocations, each of which would find out by itself that the table is away. */
const AWAY = { leastMs: 10_000, spreadMs: 20_000 };

const TABLE_AWAY = { problem: 'TableAway' satisfies ProblemName };

/** Handles one delivery of a message, and sees to it that the message comes back if it has to. Never throws. */
export const handleOnce = (message: QueueMessage, parts: HandleOnceParts): Promise<HandledOnce> =>
  withIds({ messageId: message.messageId }, () => handleNamed(message, parts));

async function handleNamed(message: QueueMessage, parts: HandleOnceParts): Promise<HandledOnce> {
  const { worker, queue, lease, stopHiding } = parts;
  using _ = worker.inHand?.hold({ messageId: message.messageId });
  try {
    const handled = await handleMessage(message, worker, lease);
    await stopHiding?.();
    if (handled.kind === 'done') return handled;
    if (handled.kind === 'later') return await putBack(message, handled, parts);
    // No other message of its job may be left: of one that was proved unsent, it is what opens it again.
    const replace = () => replaceMessage(message, handled.body, queue);
    await persist(replace, { ...worker, untilMs: lease.writeUntilMs });
    return { kind: 'replaced', delayMs: 0 };
  } catch (err) {
    const problem = isPassing(err) && err instanceof TableError ? TABLE_AWAY : {};
    worker.logger.error({ job: parsedJob(message, worker)?.job.id, err, ...problem }, 'message not handled');
    await stopHiding?.();
    // A fault that is not an outage counts towards the dead letters.
    if (!isPassing(err)) return { kind: 'failed', ...(isOfDisk(err) && { fault: err }) };
    const { leastMs, spreadMs } = parts.away ?? AWAY;
    const delayMs = leastMs + Math.floor(worker.random() * spreadMs);
    const back = await putBack(message, { delayMs }, parts);
    return back.kind === 'replaced' ? back : { ...back, kind: 'failed', isAway: true };
  }
}

/*
 * Waiting spends no receives. The queue moves a message to the dead letters after 1,000, which a pause of 17 hours would
 * reach, and deletes it when it is 14 days old. So of a message that was received often, or is old, a copy goes back. The
 * copy names its job: if a crash leaves both, they are two deliveries of one job. What cannot be handled is not copied.
 */

/** A message is copied after this many receives: far from the queue's limit, and rare enough to cost little. */
const MOST_RECEIVES = 200;

/** Or with one receive left, for a worker that dies, where the queue's limit is lower. */
const copyAfter = (maxReceives = Number.POSITIVE_INFINITY) => Math.min(MOST_RECEIVES, maxReceives - 1);

/** A message is copied at this age, in milliseconds: some queues delete messages after 4 days, SQS's default. */
const OLDEST_MS = 3 * 24 * 60 * 60 * 1_000;

/** How long the queue can delay a message that is sent. */
const LONGEST_SEND_DELAY_MS = 900_000;

/** Puts a message that waits back on the queue, for `delayMs` or a shorter time if that is the queue's limit. */
export async function putBack(
  message: QueueMessage,
  { delayMs }: { readonly delayMs: number },
  { worker, queue }: Pick<HandleOnceParts, 'worker' | 'queue'>,
): Promise<HandledOnce> {
  const { messageId, receipt, receives, maxReceives, sentAtMs } = message;
  const { logger, now } = worker;
  if (receives >= copyAfter(maxReceives) || (sentAtMs !== undefined && now() - sentAtMs >= OLDEST_MS)) {
    try {
      const body = await copyOf(message, worker);
      if (body !== undefined) {
        await replaceMessage(message, body, queue, Math.min(delayMs, LONGEST_SEND_DELAY_MS));
        return { kind: 'replaced', delayMs };
      }
    } catch (err) {
      logger.warn({ messageId, err }, 'message not copied; delayed instead');
    }
  }
  try {
    await queue.delay(receipt, delayMs);
    return { kind: 'later', delayMs };
  } catch (err) {
    logger.warn(
      { messageId, delayMs, err },
      'message not delayed; delivered again when its visibility timeout ends',
    );
    return { kind: 'later' };
  }
}

/** The body of a copy; undefined if the message is not a job's, so nothing is known that a copy could keep the same. */
async function copyOf(message: QueueMessage, worker: Worker): Promise<string | undefined> {
  const { body, sender } = message;
  const { ledger } = worker;
  const parsed = parsedJob(message, worker);
  if (parsed === undefined) return undefined;
  const { job, contentHash, isNamed } = parsed;
  // A copy is sent by the worker: the ledger remembers who sent the message.
  await ledger.announce({ id: job.id, type: job.type, contentHash, sender }).catch((error: unknown) => {
    // Better a result without the first sender than none.
    if (!isPassing(error)) throw error;
  });
  return isNamed ? body : withId(body, job.id);
}

function parsedJob({ body, messageId }: QueueMessage, { allow }: Worker) {
  const parsed = parseMessage(body, { messageId, allow });
  return parsed.kind === 'refused' ? undefined : parsed;
}

/**
 * Replaces a message by one with another body, which must name its job. The new one is sent before the old one is deleted:
 * a crash between leaves both. Throws `AwsError`: then the old message comes back.
 */
async function replaceMessage(
  { receipt }: QueueMessage,
  body: string,
  queue: HandleOnceParts['queue'],
  delayMs = 0,
): Promise<void> {
  await queue.send([body], { delayMs });
  await queue.delete(receipt);
}

/** Handles messages side by side, short ones beside long ones, and returns the ids of those that are not finished with. */
export async function runBatch(
  messages: readonly QueueMessage[],
  { concurrency, ...parts }: Omit<HandleOnceParts, 'stopHiding'> & { readonly concurrency: number },
): Promise<readonly string[]> {
  const [short, long] = [new PQueue({ concurrency }), new PQueue({ concurrency })];
  const handled = await Promise.all(
    messages.map((message) =>
      (sendsMany(typeIn(message.body)) ? long : short).add(() => handleOnce(message, parts)),
    ),
  );
  // One that was replaced is deleted already, which does no harm twice.
  const isFinished = (kind: HandledOnce['kind'] | undefined) => kind === 'done' || kind === 'replaced';
  return messages.flatMap(({ messageId }, index) => (isFinished(handled[index]?.kind) ? [] : [messageId]));
}

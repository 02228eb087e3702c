import { AwsError } from '../../base/aws/index.ts';
import { once } from '../../base/index.ts';
import { MAX_MESSAGE_BYTES, type Queue, total } from './queue.ts';

/**
 * The minimum of `maxReceiveCount`, as in the template, and the maximum that SQS allows. Workers that are merely stopped
 * use up receives, so with fewer receives their jobs would become dead letters.
 */
const MIN_MAX_RECEIVES = 1_000;

/**
 * The minimum retention. A waiting message is copied when it is three days old, and may before that be hidden for twelve
 * hours.
 */
const MIN_RETENTION_SECONDS = 4 * 24 * 60 * 60;

/** A queue of jobs, and the dead-letter queue in the settings. */
type JobQueues = {
  readonly jobs: Queue;
  readonly dead?: { readonly url: string; readonly queue: Queue } | undefined;
};

/** What to do about faults in the limits of a queue. */
const ADVICE =
  'set RedrivePolicy {"deadLetterTargetArn":"…","maxReceiveCount":1000} on the queue, and MessageRetentionPeriod 1209600 and MaximumMessageSize 262144 on it and on its dead-letter queue (aws sqs set-queue-attributes)';

/**
 * Reads the limits of the jobs queue, and the faults in the limits of both queues, one a line, with what to do about
 * them. A queue in SQLite has our own limits.
 */
export async function examineLimits({ jobs, dead }: JobQueues) {
  const limits = await jobs.limits?.();
  if (limits === undefined) return { limits, faults: [], advice: ADVICE };
  const { maxReceives, deadLetters, retentionSeconds, isFifo = false, maxBytes = MAX_MESSAGE_BYTES } = limits;
  // A worker may lack permission to read the limits of the dead-letter queue.
  const ofDead = await dead?.queue.limits?.().catch(() => undefined);
  const deadSeconds = ofDead?.retentionSeconds ?? retentionSeconds;
  const hasOtherDeadLetters =
    dead && deadLetters && nameIn(deadLetters, ':') !== nameIn(new URL(dead.url).pathname, '/');
  const found: Readonly<Record<string, boolean>> = {
    'it is a FIFO queue, which takes no job without a group: create a standard one': isFifo,
    [`MaximumMessageSize is ${maxBytes}, expected ${MAX_MESSAGE_BYTES}: larger jobs are refused`]:
      maxBytes < MAX_MESSAGE_BYTES,
    'no RedrivePolicy: a message that cannot be handled comes back until the queue deletes it':
      maxReceives === undefined,
    [`maxReceiveCount is ${maxReceives}, expected ${MIN_MAX_RECEIVES}: jobs whose workers were only stopped become dead letters`]:
      (maxReceives ?? MIN_MAX_RECEIVES) < MIN_MAX_RECEIVES,
    [`MessageRetentionPeriod is ${retentionSeconds}, expected 1209600: jobs that wait longer are deleted unseen`]:
      retentionSeconds < MIN_RETENTION_SECONDS,
    [`dead letters go to ${deadLetters}, which is not the queue in SYNC_DEAD_LETTER_URL`]:
      Boolean(hasOtherDeadLetters),
    [`MessageRetentionPeriod of the dead-letter queue is ${deadSeconds}, less than ${retentionSeconds}, and counts from when a job was submitted`]:
      deadSeconds < retentionSeconds,
  };
  return { limits, faults: Object.keys(found).filter((fault) => found[fault]), advice: ADVICE };
}

const nameIn = (location: string, separator: string) => location.split(separator).at(-1);

/**
 * Wraps the jobs queue for a worker: adds the maximum receives to messages, and counts messages that become dead letters.
 * Reports faults in the limits before the first receive.
 */
export async function watchDeadLetters(
  { jobs, dead }: JobQueues,
  onFault: (fault: string) => void,
): Promise<{ readonly queue: Queue; arrived(): Promise<number> }> {
  const countDead = () => dead?.queue.counts().then(total, () => undefined);
  const before = await countDead();
  const maxReceives = once(async () => {
    const { limits, faults } = await examineLimits({ jobs, dead }).catch(unlessDenied);
    for (const fault of faults) onFault(fault);
    return limits?.maxReceives;
  });
  // The ids of messages that are at their last receive, by receipt.
  const last = new Map<string, string>();
  const queue: Queue = {
    ...jobs,
    async receive(options) {
      const max = await maxReceives();
      const messages = await jobs.receive(options);
      if (max === undefined) return messages;
      for (const { receipt, messageId, receives } of messages)
        if (receives >= max) last.set(receipt, messageId);
      return messages.map((message) => ({ ...message, maxReceives: max }));
    },
    async delete(receipt) {
      await jobs.delete(receipt);
      const messageId = last.get(receipt);
      for (const [each, id] of last) if (id === messageId) last.delete(each);
    },
  };
  return {
    queue,
    /**
     * The count of dead letters so far. SQS's own count may be a minute old, but a message that was not deleted after its
     * last receive is certainly a dead letter.
     */
    async arrived() {
      const after = (await countDead()) ?? 0;
      return Math.max(new Set(last.values()).size, after - (before ?? after));
    },
  };
}

function unlessDenied(error: unknown): { readonly limits: undefined; readonly faults: readonly string[] } {
  if (!(error instanceof AwsError && error.failure.kind === 'denied')) throw error;
  return { limits: undefined, faults: [`its limits are not known: ${error.message}`] };
}

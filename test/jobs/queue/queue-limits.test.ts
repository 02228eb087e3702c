import { describe, expect, test } from 'vitest';
import { AwsError } from '../../../lib/base/aws/fault.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import { examineLimits, watchDeadLetters } from '../../../lib/jobs/queue/queue-limits.ts';
import { memoryQueue } from '../memory-queue.ts';

const DEAD_URL = 'https://sqs.eu-central-1.amazonaws.com/123456789012/dead';
const DAY_SECONDS = 86_400;
const asDeployed: Awaited<ReturnType<NonNullable<Queue['limits']>>> = {
  maxReceives: 1_000,
  deadLetters: 'arn:aws:sqs:eu-central-1:123456789012:dead',
  retentionSeconds: 14 * DAY_SECONDS,
  visibilitySeconds: 330,
};

const limited = (
  limits: Partial<Awaited<ReturnType<NonNullable<Queue['limits']>>>> = {},
  queue: Queue = memoryQueue(),
): Queue => ({
  ...queue,
  limits: async () => ({ ...asDeployed, ...limits }),
});
const dead = (limits: Partial<Awaited<ReturnType<NonNullable<Queue['limits']>>>> = {}) => ({
  url: DEAD_URL,
  queue: limited(limits),
});

describe('the limits of a queue', () => {
  test.each([
    ['as in the template, without a fault', {}, {}, []],
    ['three receives', { maxReceives: 3 }, {}, [/^maxReceiveCount is 3, expected 1000: /]],
    ['one receive fewer than expected', { maxReceives: 999 }, {}, [/^maxReceiveCount is 999/]],
    ['no policy', { maxReceives: undefined, deadLetters: undefined }, {}, [/^no RedrivePolicy: /]],
    ['a FIFO queue', { isFifo: true }, {}, [/^it is a FIFO queue/]],
    ['small messages', { maxBytes: 1_024 }, {}, [/^MaximumMessageSize is 1024, expected 262144: /]],
    [
      'messages that expire after three days',
      { retentionSeconds: 3 * DAY_SECONDS },
      {},
      [/^MessageRetentionPeriod is 259200, /],
    ],
    [
      'dead letters that no check reads',
      { deadLetters: 'arn:aws:sqs:eu-central-1:123456789012:other' },
      {},
      [/^dead letters go to arn:.+:other, which is not the queue in SYNC_DEAD_LETTER_URL$/],
    ],
    [
      'dead letters that expire too early',
      {},
      { retentionSeconds: 4 * DAY_SECONDS },
      [/^MessageRetentionPeriod of the dead-letter queue is 345600, less than 1209600/],
    ],
  ])('are checked for faults: %s', async (_, jobs, deadLimits, expected) => {
    const { faults } = await examineLimits({ jobs: limited(jobs), dead: dead(deadLimits) });

    expect(faults).toEqual(expected.map((words) => expect.stringMatching(words)));
  });

  test('are fixed by platform-sync if the queue is in SQLite', async () => {
    expect(await examineLimits({ jobs: memoryQueue() })).toMatchObject({ limits: undefined, faults: [] });
  });
});

/** A queue that receives each message for the third time, which is its limit. */
function lastReceives(): Queue {
  const queue = memoryQueue(['a', 'b']);
  return limited(
    { maxReceives: 3 },
    {
      ...queue,
      receive: async (options) =>
        (await queue.receive(options)).map((message) => ({ ...message, receives: 3 })),
    },
  );
}

const RECEIVE = { max: 10, waitSeconds: 0, visibilitySeconds: 60 } as const;

describe('dead letters', () => {
  test('are the messages that were received for the last time and not deleted, whatever the dead-letter queue counts', async () => {
    const faults: string[] = [];
    const letters = await watchDeadLetters({ jobs: lastReceives(), dead: dead() }, (fault) =>
      faults.push(fault),
    );

    const [first] = await letters.queue.receive(RECEIVE);
    await letters.queue.delete(first?.receipt ?? '');

    expect(first).toMatchObject({ receives: 3, maxReceives: 3 });
    expect(await letters.arrived()).toBe(1);
    expect(faults).toEqual([expect.stringContaining('maxReceiveCount is 3')]);
  });

  test('are the messages by which the count of the dead-letter queue has grown', async () => {
    const dlq = dead();
    await dlq.queue.send(['of yesterday']);
    const letters = await watchDeadLetters({ jobs: limited(), dead: dlq }, () => undefined);

    await dlq.queue.send(['one', 'another']);

    expect(await letters.arrived()).toBe(2);
  });

  test('count as 0, with a fault, if the worker may not read the limits of the queue', async () => {
    const denied = new AwsError('queue', 'count', Object.assign(new Error('x'), { code: 'AccessDenied' }));
    const refuse = () => Promise.reject(denied);
    const jobs = { ...memoryQueue(['a']), limits: refuse };
    const blind = { url: DEAD_URL, queue: { ...memoryQueue(), counts: refuse, limits: refuse } };
    const faults: string[] = [];
    const letters = await watchDeadLetters({ jobs, dead: blind }, (fault) => faults.push(fault));

    const received = await letters.queue.receive(RECEIVE);

    expect(received).toHaveLength(1);
    expect(await letters.arrived()).toBe(0);
    expect(faults).toEqual([expect.stringContaining('its limits are not known: count')]);
  });

  test('are an error, rather than none, if the queue is unavailable', async () => {
    const unavailable = new AwsError(
      'queue',
      'read',
      Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
    );
    const answers = [() => Promise.reject(unavailable), async () => ({ ...asDeployed, maxReceives: 3 })];
    const jobs: Queue = {
      ...memoryQueue(['a']),
      limits: () => answers.shift()?.() ?? Promise.reject(unavailable),
    };
    const letters = await watchDeadLetters({ jobs }, () => undefined);

    await expect(letters.queue.receive(RECEIVE)).rejects.toBe(unavailable);
    expect(await letters.queue.receive(RECEIVE)).toMatchObject([{ maxReceives: 3 }]);
  });
});

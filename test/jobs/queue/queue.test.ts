import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchesOf, sendable, sentBytes } from '../../../lib/jobs/queue/queue.ts';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { anyCodePoint } from '../../any-text.ts';
import { startTestAws } from '../../base/aws/start-test-aws.ts';
import { describeQueue } from './queue-suite.ts';

describeQueue('a queue in SQS', async () => {
  await using started = new AsyncDisposableStack();
  const aws = await startTestAws({
    queues: [{ name: 'dead' }, { name: 'jobs', deadLetter: { queue: 'dead', maxReceiveCount: 2 } }],
    off: { 'sqs-deliveries-repeat': 'the suite counts deliveries' },
  });
  started.defer(aws.close);
  const client = createSqsClient(aws.queueUrl('jobs'), aws.settings);
  started.defer(async () => client.destroy());
  const running = started.move();
  return {
    jobs: createSqsQueue(aws.queueUrl('jobs'), client),
    dead: createSqsQueue(aws.queueUrl('dead'), client),
    missing: createSqsQueue(`${aws.queueUrl('jobs')}-of-nobody`, client),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
});

test('batches keep the order, and have at most 10 messages and 256 KB', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 262_144 })));

  fc.assert(
    fc.property(sizes, (bytes) => {
      const messages = bytes.map((size) => 'é'.repeat(size / 2) + 'x'.repeat(size % 2));

      const batches = [...batchesOf(messages)];

      expect(batches.flat()).toEqual(messages);
      for (const batch of batches) {
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length).toBeLessThanOrEqual(10);
        expect(Buffer.byteLength(batch.join(''))).toBeLessThanOrEqual(262_144);
      }
    }),
  );
});

test('batches are filled up', () => {
  expect([...batchesOf(Array.from({ length: 21 }, () => 'x'))].map(({ length }) => length)).toEqual([
    10, 10, 1,
  ]);
});

const unit = fc.oneof(
  fc.string({ unit: anyCodePoint, maxLength: 5 }),
  fc.constantFrom('\u0000', '\t', '\u001F', '\uD800', '\uDC00', '\uFFFD', '\uFFFE', '\uFFFF', '\u{10FFFF}'),
);

test('a body is measured as it is sent, and is the same JSON', () => {
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const text = units.join('');

      expect(sentBytes(text)).toBe(Buffer.byteLength(sendable(text)));
      expect(JSON.parse(sendable(JSON.stringify(text)))).toBe(text);
    }),
  );
});

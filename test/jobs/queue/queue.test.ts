import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
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

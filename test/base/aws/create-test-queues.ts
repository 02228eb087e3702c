import { randomBytes } from 'node:crypto';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import type { QueueOptions } from '../../local-aws/services/create-queue.ts';

export type TestQueues = {
  /** The URL of the queue with this name; throws if the queue does not exist. */
  url(name: string): string;
} & AsyncDisposable;

/**
 * Queues on an engine that many test files share: each gets a random name, and is deleted at the end. Dead-letter
 * queues are created first. Throws the errors of SQS.
 */
export async function createTestQueues(
  queues: readonly QueueOptions[],
  environment: Readonly<Record<string, string>>,
): Promise<TestQueues> {
  const client = new SQSClient(
    awsClientConfig(environment, { service: 'SQS', connectionTimeoutMs: 5_000, requestTimeoutMs: 30_000 }),
  );
  const urls = new Map<string, string>();
  const url = (name: string): string => {
    const found = urls.get(name);
    if (found === undefined)
      throw new TypeError(`expected one of the queues ${[...urls.keys()]}, got ${name}`);
    return found;
  };
  const deadLettersFirst = queues.toSorted(
    (one, other) => Number(one.deadLetter !== undefined) - Number(other.deadLetter !== undefined),
  );
  for (const { name, visibilitySeconds = 30, deadLetter } of deadLettersFirst) {
    const policy =
      deadLetter === undefined
        ? {}
        : { RedrivePolicy: await redrivePolicy(client, url(deadLetter.queue), deadLetter.maxReceiveCount) };
    const { QueueUrl = '' } = await client.send(
      new CreateQueueCommand({
        QueueName: `${name}-${randomBytes(6).toString('hex')}`,
        Attributes: { VisibilityTimeout: `${visibilitySeconds}`, ...policy },
      }),
    );
    urls.set(name, QueueUrl);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      for (const QueueUrl of urls.values()) await client.send(new DeleteQueueCommand({ QueueUrl }));
      client.destroy();
    },
  };
}

async function redrivePolicy(client: SQSClient, QueueUrl: string, maxReceiveCount: number): Promise<string> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  return JSON.stringify({ deadLetterTargetArn: Attributes.QueueArn, maxReceiveCount });
}

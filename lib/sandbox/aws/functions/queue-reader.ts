import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { LocalAws } from '../services/start-aws.ts';

export type QueueReader = {
  /** The queue's ARN and visibility timeout. Throws if there is no such queue. */
  describe(): Promise<{ readonly arn: string; readonly visibilityMs: number }>;
  /** Up to `batchSize` messages with all their attributes; none after about a second without any. */
  receive(batchSize: number): Promise<readonly Message[]>;
  /** Deletes messages of one receive. Throws if any is refused. */
  remove(messages: readonly Message[]): Promise<void>;
  close(): void;
};

/** One queue over SQS's own interface. */
export const createQueueReader = (
  { endpoint, region, credentials }: Pick<LocalAws, 'endpoint' | 'region' | 'credentials'>,
  QueueUrl: string,
): QueueReader => {
  const client = new SQSClient({ endpoint, region, credentials });
  return {
    describe: async () => {
      const asked = new GetQueueAttributesCommand({
        QueueUrl,
        AttributeNames: ['QueueArn', 'VisibilityTimeout'],
      });
      const { Attributes } = await client.send(asked);
      return {
        arn: Attributes?.QueueArn ?? '',
        visibilityMs: Number(Attributes?.VisibilityTimeout) * 1_000,
      };
    },
    receive: async (batchSize) => {
      const asked = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: batchSize,
        // Short, for it is never aborted: one that is swallows the next message for a visibility timeout.
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      return (await client.send(asked)).Messages ?? [];
    },
    remove: async (messages) => {
      if (messages.length === 0) return;
      const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      const { Failed } = await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
      if (Failed?.length) throw new Error(`delete from ${QueueUrl}: ${JSON.stringify(Failed)}`);
    },
    close: () => client.destroy(),
  };
};

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
  /** Receives up to `batchSize` messages with all their attributes. Returns an empty list if none arrive for about a second. */
  receive(batchSize: number): Promise<readonly Message[]>;
  /** Deletes messages of one receive. Throws if any deletion is refused. */
  remove(messages: readonly Message[]): Promise<void>;
  close(): void;
};

/** Maximum tries of a deletion that fails through no fault of ours. */
const MAX_ROUNDS = 3;

/** One queue, over SQS's own API. */
export function createQueueReader(
  { endpoint, region, credentials }: Pick<LocalAws, 'endpoint' | 'region' | 'credentials'>,
  QueueUrl: string,
): QueueReader {
  const client = new SQSClient({ endpoint, region, credentials });
  return {
    describe: async () => {
      const command = new GetQueueAttributesCommand({
        QueueUrl,
        AttributeNames: ['QueueArn', 'VisibilityTimeout'],
      });
      const { Attributes } = await client.send(command);
      return { arn: Attributes?.QueueArn ?? '', visibilityMs: Number(Attributes?.VisibilityTimeout) * 1_000 };
    },
    receive: async (batchSize) => {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: batchSize,
        // The poll is short because it is never aborted: that would hide the next message for a visibility timeout.
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      return (await client.send(command)).Messages ?? [];
    },
    remove: async (messages) => {
      let left = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      for (let round = 1; left.length > 0; round += 1) {
        const command = new DeleteMessageBatchCommand({ QueueUrl, Entries: left });
        const { Failed = [] } = await client.send(command);
        const isFinal = round === MAX_ROUNDS || Failed.some(({ SenderFault }) => SenderFault);
        if (Failed.length > 0 && isFinal)
          throw new Error(`delete from ${QueueUrl}: ${JSON.stringify(Failed)}`);
        left = left.filter(({ Id }) => Failed.some((failed) => failed.Id === Id));
      }
    },
    close: () => client.destroy(),
  };
}

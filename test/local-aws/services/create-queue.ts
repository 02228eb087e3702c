import type { FauxqsApp } from '../documented/stand-ins.ts';
import { ACCOUNT, REGION } from '../identity.ts';

export type QueueOptions = {
  readonly name: string;
  /** The visibility timeout. Default: 30. */
  readonly visibilitySeconds?: number;
  /** The queue that a message is moved to after it has been received `maxReceiveCount` times. */
  readonly deadLetter?: { readonly queue: string; readonly maxReceiveCount: number };
};

/** Creates a queue before the app listens. Throws with the response if it fails, or if the name is not valid in SQS. */
export async function createQueue(app: FauxqsApp, options: QueueOptions): Promise<void> {
  const { name, visibilitySeconds = 30, deadLetter } = options;
  // fauxqs accepts any name.
  if (!/^[\w-]{1,80}$/.test(name))
    throw new TypeError(`create a queue: expected a name of 1 to 80 letters, digits, - and _, got ${name}`);
  const attributes = {
    VisibilityTimeout: String(visibilitySeconds),
    ...(deadLetter === undefined ? {} : { RedrivePolicy: redrivePolicy(deadLetter) }),
  };
  const response = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.CreateQueue' },
    payload: JSON.stringify({ QueueName: name, Attributes: attributes }),
  });
  if (response.statusCode !== 200)
    throw new Error(`create the queue ${name}: ${response.statusCode} ${response.body}`);
}

const redrivePolicy = ({ queue, maxReceiveCount }: NonNullable<QueueOptions['deadLetter']>): string =>
  JSON.stringify({ deadLetterTargetArn: `arn:aws:sqs:${REGION}:${ACCOUNT}:${queue}`, maxReceiveCount });

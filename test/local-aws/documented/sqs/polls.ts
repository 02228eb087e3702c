import { type AwsRequest, listOf, type Members, membersOf, withMembers } from '../aws-request.ts';
import { succeeded, toJson } from '../reply.ts';
import type { Ask, Rule } from '../rule.ts';

/** Half of all short polls find no messages, as if they asked servers without any. */
export const shortPollsMiss = {
  service: 'sqs',
  kind: 'weak',
  says: 'A short poll asks only some of the servers, so it may return nothing while messages wait; a long poll asks all of them.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html',
  create:
    ({ random, ask }) =>
    async (request, next) =>
      isReceive(request) && (await isShort(request, ask)) && random.chance(0.5) ? toJson({}) : next(request),
} as const satisfies Rule;

/** Half of all receives return fewer messages than requested. */
export const fewerMessages = {
  service: 'sqs',
  kind: 'weak',
  says: 'A receive never returns more messages than MaxNumberOfMessages, but it may return fewer, though more wait.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html',
  create:
    ({ random }) =>
    async (request, next) => {
      const most = Number(membersOf(request)['MaxNumberOfMessages'] ?? 1);
      // Values out of range are rejected by fauxqs.
      if (!isReceive(request) || most < 2 || most > 10 || random.chance(0.5)) return next(request);
      return next(withMembers(request, { MaxNumberOfMessages: 1 + random.below(most) }));
    },
} as const satisfies Rule;

/** The entries of a batch are stored, and the messages of a receive are returned, in random order. */
export const orderChanges = {
  service: 'sqs',
  kind: 'weak',
  says: 'A standard queue makes its best effort to keep the order, but messages may be received in another one.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues.html',
  create: ({ random }) => {
    const shuffled = (list: readonly Members[]) =>
      list
        .map((each) => ({ each, at: random.next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ each }) => each);
    return async (request, next) => {
      const entries = listOf(membersOf(request)['Entries']);
      if (request.operation === 'SendMessageBatch' && entries.length > 0)
        return next(withMembers(request, { Entries: shuffled(entries) }));
      const reply = await next(request);
      const messages = isReceive(request) ? listOf(succeeded(reply)?.['Messages']) : [];
      return messages.length > 1 ? toJson({ Messages: shuffled(messages) }) : reply;
    };
  },
} as const satisfies Rule;

const isReceive = ({ operation }: AwsRequest): boolean => operation === 'ReceiveMessage';

async function isShort(request: AwsRequest, ask: Ask): Promise<boolean> {
  const seconds = membersOf(request)['WaitTimeSeconds'];
  if (seconds !== undefined) return seconds === 0;
  const name = 'ReceiveMessageWaitTimeSeconds';
  const { Attributes } = succeeded(await ask(attributesRequest(request, [name]))) ?? {};
  return Number((Attributes as Members | undefined)?.[name] ?? 0) === 0;
}

/** A request for attributes of the queue that another request names. */
export function attributesRequest(request: AwsRequest, names: readonly string[]): AwsRequest {
  const operation = 'GetQueueAttributes';
  return {
    ...request,
    operation,
    headers: { ...request.headers, 'x-amz-target': `AmazonSQS.${operation}` },
    body: Buffer.from(JSON.stringify({ QueueUrl: membersOf(request)['QueueUrl'], AttributeNames: names })),
  };
}

import { type AwsRequest, membersOf } from '../aws-request.ts';
import { refuse } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { entriesOf, refuseEach } from './batches.ts';

const MAX_DELAY_SECONDS = 900;

/** A message or an entry of a batch may be delayed by at most 15 minutes. */
export const delayLimit = {
  service: 'sqs',
  kind: 'strict',
  says: 'DelaySeconds is a whole number from 0 to 900.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html',
  create: () => async (request, next) =>
    request.operation.startsWith('SendMessage')
      ? refuseEach(request, next, ({ DelaySeconds }) => (isDelay(DelaySeconds) ? undefined : badDelay))
      : next(request),
} as const satisfies Rule;

const badDelay = {
  code: 'InvalidParameterValue',
  message: `Value for parameter DelaySeconds is invalid. Reason: Must be between 0 and ${MAX_DELAY_SECONDS}.`,
};

const isDelay = (seconds: unknown): boolean =>
  seconds === undefined ||
  (Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= MAX_DELAY_SECONDS);

/** SQS accepts only whole numbers, fauxqs any number. */
export const wholeNumbers = {
  service: 'sqs',
  kind: 'strict',
  says: 'MaxNumberOfMessages, WaitTimeSeconds and VisibilityTimeout are integers.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html',
  create: () => async (request, next) =>
    isWhole(request)
      ? next(request)
      : refuse('sqs', { status: 400, code: 'SerializationException', message: 'Expected integers.' }),
} as const satisfies Rule;

const isWhole = (request: AwsRequest): boolean =>
  [membersOf(request), ...entriesOf(request)].every((members) =>
    ['MaxNumberOfMessages', 'WaitTimeSeconds', 'VisibilityTimeout']
      .map((name) => members[name])
      .every((value) => value === undefined || Number.isInteger(value)),
  );

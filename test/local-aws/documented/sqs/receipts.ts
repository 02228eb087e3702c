import { listOf, type Members } from '../aws-request.ts';
import { type Reply, succeeded } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { refuseEach } from './batches.ts';

const MAX_SECONDS = 43_200;

/** A receipt that was never issued is rejected. An expired one deletes nothing, without an error. */
export const receiptsMustBeIssued = {
  service: 'sqs',
  kind: 'strict',
  says: 'A receipt handle that is not valid is refused with ReceiptHandleIsInvalid.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html',
  create: ({ now }) => {
    const issued = createIssued(now);
    return async (request, next) => {
      if (request.operation === 'ReceiveMessage') return issued.record(await next(request));
      return refuseEach(request, next, ({ ReceiptHandle }) =>
        ReceiptHandle === undefined || issued.at(ReceiptHandle) !== undefined ? undefined : unknownReceipt,
      );
    };
  },
} as const satisfies Rule;

const unknownReceipt = { code: 'ReceiptHandleIsInvalid', message: 'The input receipt handle is invalid.' };

/** The 12 hours of a visibility timeout begin when the message is received, not when the timeout is changed. */
export const twelveHours = {
  service: 'sqs',
  kind: 'strict',
  says: 'A message is hidden for at most 12 hours in all, counted from when it was received.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html',
  create: ({ now }) => {
    const issued = createIssued(now);
    const isTooLong = ({ ReceiptHandle, VisibilityTimeout }: Members) => {
      const heldMs = now() - (issued.at(ReceiptHandle) ?? now());
      return heldMs / 1000 + Number(VisibilityTimeout ?? 0) > MAX_SECONDS;
    };
    return async (request, next) => {
      if (request.operation === 'ReceiveMessage') return issued.record(await next(request));
      if (!request.operation.startsWith('ChangeMessageVisibility')) return next(request);
      return refuseEach(request, next, (members) =>
        isTooLong(members) ? tooLong(members['VisibilityTimeout']) : undefined,
      );
    };
  },
} as const satisfies Rule;

const tooLong = (seconds: unknown) => ({
  code: 'InvalidParameterValue',
  message: `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [${MAX_SECONDS} seconds].`,
});

/** The time at which each receipt was issued. A receipt is useless after 12 hours. */
function createIssued(now: () => number) {
  const atMs = new Map<unknown, number>();
  return {
    at: (receipt: unknown): number | undefined => atMs.get(receipt),
    record(reply: Reply): Reply {
      for (const { ReceiptHandle } of listOf(succeeded(reply)?.['Messages'])) atMs.set(ReceiptHandle, now());
      for (const [receipt, at] of atMs) {
        if (now() - at <= 2 * MAX_SECONDS * 1000) break;
        atMs.delete(receipt);
      }
      return reply;
    },
  };
}

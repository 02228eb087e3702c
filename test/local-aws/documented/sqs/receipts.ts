import { listOf, type Members, membersOf } from '../aws-request.ts';
import { type Reply, refuse, succeeded } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { askForOthers, entriesOf } from './batches.ts';

const MOST_SECONDS = 43_200;

/** A receipt that was never issued is refused; one that has expired deletes nothing, without an error. */
export const receiptsMustBeIssued = {
  service: 'sqs',
  kind: 'strict',
  says: 'A receipt handle that is not valid is refused with ReceiptHandleIsInvalid.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html',
  create: ({ now }) => {
    const issued = createIssued(now);
    return async (request, next) => {
      if (request.operation === 'ReceiveMessage') return issued.record(await next(request));
      const { ReceiptHandle: receipt } = membersOf(request);
      const isFalse = (given: unknown) => given !== undefined && issued.at(given) === undefined;
      if (isFalse(receipt)) return refuse('sqs', { status: 400, code: INVALID, message: UNKNOWN_RECEIPT });
      const failed = entriesOf(request).filter(({ ReceiptHandle }) => isFalse(ReceiptHandle));
      const failure = { Code: INVALID, Message: UNKNOWN_RECEIPT, SenderFault: true };
      return askForOthers(request, next, {
        failed: new Map(failed.map((entry) => [entry, failure])),
        succeeded: new Map(),
      });
    };
  },
} as const satisfies Rule;

const INVALID = 'ReceiptHandleIsInvalid';
const UNKNOWN_RECEIPT = 'The input receipt handle is invalid.';

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
      return heldMs / 1000 + Number(VisibilityTimeout ?? 0) > MOST_SECONDS;
    };
    return async (request, next) => {
      if (request.operation === 'ReceiveMessage') return issued.record(await next(request));
      if (!request.operation.startsWith('ChangeMessageVisibility')) return next(request);
      const { VisibilityTimeout, ...one } = membersOf(request);
      if (isTooLong({ ...one, VisibilityTimeout }))
        return refuse('sqs', { status: 400, ...tooLong(VisibilityTimeout) });
      const failed = entriesOf(request).filter(isTooLong);
      return askForOthers(request, next, {
        failed: new Map(failed.map((entry) => [entry, entryFailure(entry['VisibilityTimeout'])])),
        succeeded: new Map(),
      });
    };
  },
} as const satisfies Rule;

const tooLong = (seconds: unknown) => ({
  code: 'InvalidParameterValue',
  message: `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [${MOST_SECONDS} seconds].`,
});

function entryFailure(seconds: unknown) {
  const { code, message } = tooLong(seconds);
  return { Code: code, Message: message, SenderFault: true };
}

/** When each receipt was issued. After 12 hours none is of any use. */
function createIssued(now: () => number) {
  const atMs = new Map<unknown, number>();
  return {
    at: (receipt: unknown): number | undefined => atMs.get(receipt),
    record(reply: Reply): Reply {
      for (const { ReceiptHandle } of listOf(succeeded(reply)?.['Messages'])) atMs.set(ReceiptHandle, now());
      for (const [receipt, at] of atMs) {
        if (now() - at <= 2 * MOST_SECONDS * 1000) break;
        atMs.delete(receipt);
      }
      return reply;
    },
  };
}

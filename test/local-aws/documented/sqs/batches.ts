import { type AwsRequest, listOf, type Members, membersOf, withMembers } from '../aws-request.ts';
import { createNowAndThen } from '../now-and-then.ts';
import { type Reply, refuse, succeeded, toJson } from '../reply.ts';
import type { Ask, Rule } from '../rule.ts';

/** One in this number of batches fails in part. */
const BATCHES_PER_FAILURE = 12;

/** Occasionally fails one entry of a batch, through no fault of the sender. */
export const batchesFailInPart = {
  service: 'sqs',
  kind: 'weak',
  says: 'A batch may succeed in part: a response of 200 lists the entries that failed, some through no fault of theirs.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html',
  create: ({ random }) => {
    const isHit = createNowAndThen(random, BATCHES_PER_FAILURE);
    return async (request, next) => {
      const entries = entriesOf(request);
      if (entries.length === 0 || !isHit()) return next(request);
      const unlucky = random.pick(entries);
      return askForOthers(request, next, {
        failed: new Map([[unlucky, internalError]]),
        succeeded: new Map(),
      });
    };
  },
} as const satisfies Rule;

const internalError: EntryFailure = {
  Code: 'InternalError',
  Message: 'The request processing has failed because of an unknown error.',
  SenderFault: false,
};

/** The entries of a batch; none for any other request. */
export const entriesOf = (request: AwsRequest): readonly Members[] =>
  /^(Send|Delete|Change)Message\w*Batch$/.test(request.operation)
    ? listOf(membersOf(request)['Entries'])
    : [];

/**
 * Rejects a request for one message, or single entries of a batch, for which `faultOf` returns a fault of the sender.
 * The other entries are passed on.
 */
export function refuseEach(
  request: AwsRequest,
  next: Ask,
  faultOf: (members: Members) => { readonly code: string; readonly message: string } | undefined,
): Promise<Reply> | Reply {
  const alone = faultOf(membersOf(request));
  if (alone !== undefined) return refuse('sqs', { status: 400, ...alone });
  const failed = entriesOf(request).flatMap((entry) => {
    const { code, message } = faultOf(entry) ?? {};
    return code === undefined || message === undefined
      ? []
      : [[entry, { Code: code, Message: message, SenderFault: true }] as const];
  });
  return askForOthers(request, next, { failed: new Map(failed), succeeded: new Map() });
}

type EntryFailure = { readonly Code: string; readonly Message: string; readonly SenderFault: boolean };

/** The entries of a batch whose result is known already. */
type Decided = {
  readonly failed: ReadonlyMap<Members, EntryFailure>;
  readonly succeeded: ReadonlyMap<Members, Members>;
};

/** Passes on the other entries, and adds the known results to the reply. */
export async function askForOthers(
  request: AwsRequest,
  next: Ask,
  { failed, succeeded: done }: Decided,
): Promise<Reply> {
  if (failed.size + done.size === 0) return next(request);
  const others = entriesOf(request).filter((entry) => !failed.has(entry) && !done.has(entry));
  const reply = others.length > 0 ? await next(withMembers(request, { Entries: others })) : toJson({});
  const members = succeeded(reply);
  if (members === undefined) return reply;
  const successes = [...done].map(([{ Id }, more]) => ({ Id, ...more }));
  const failures = [...failed].map(([{ Id }, failure]) => ({ Id, ...failure }));
  return toJson({
    Successful: [...listOf(members['Successful']), ...successes],
    Failed: [...listOf(members['Failed']), ...failures],
  });
}

/** The name in the queue's URL. */
export const queueNameOf = (request: AwsRequest): string =>
  String(membersOf(request)['QueueUrl'] ?? '').replace(/^.*\//, '');

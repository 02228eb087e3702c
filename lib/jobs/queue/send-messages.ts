import type { BatchResultErrorEntry } from '@aws-sdk/client-sqs';
import { AwsError, entryError } from '../../base/index.ts';
import { batchesOf } from './message-batches.ts';
import { sendable } from './sendable.ts';
import { isQueueFailure, UnsentError, type UnsentMessage } from './unsent-error.ts';

/** How often a message is sent if SQS fails to accept it, and how long the first pause is. */
const MOST_ROUNDS = 3;
const PAUSE_MS = 200;

type Entry = { readonly Id: string; readonly MessageBody: string };

export type SendMessagesOptions = {
  /** The queue, as errors name it. */
  readonly queue: string;
  /** Sends one batch. */
  readonly send: (entries: Entry[]) => Promise<{ readonly Failed?: BatchResultErrorEntry[] | undefined }>;
  readonly sleep: (ms: number) => Promise<unknown>;
};

/**
 * Sends messages in batches, and those again that SQS failed to accept through no fault of theirs: three rounds in
 * all. Every message is tried, whatever happens to the others; then throws `UnsentError` if any was not sent.
 */
export async function sendMessages(bodies: readonly string[], options: SendMessagesOptions): Promise<void> {
  const unsent: UnsentMessage[] = [];
  let index = 0;
  for (const batch of batchesOf(bodies.map(sendable))) {
    const messages = batch.map((body, place) => ({ index: index + place, body }));
    unsent.push(...(await sendBatch(messages, options)));
    index += batch.length;
  }
  const [first, ...others] = unsent.toSorted((one, other) => one.index - other.index);
  if (first !== undefined) throw new UnsentError(options.queue, bodies.length, [first, ...others]);
}

type Numbered = { readonly index: number; readonly body: string };

async function sendBatch(
  messages: readonly Numbered[],
  options: SendMessagesOptions,
): Promise<readonly UnsentMessage[]> {
  const refused: UnsentMessage[] = [];
  let left = messages;
  for (let round = 1; left.length > 0; round += 1) {
    const tried = await tryBatch(left, options);
    if (tried.kind === 'thrown') return [...refused, ...(await afterThrown(left, tried.error, options))];
    const isLast = round === MOST_ROUNDS;
    refused.push(...tried.failed.filter(({ isFaulty }) => isFaulty || isLast).map(({ unsent }) => unsent));
    if (isLast) break;
    left = tried.failed.filter(({ isFaulty }) => !isFaulty).map(({ message }) => message);
    if (left.length > 0) await options.sleep(PAUSE_MS * round);
  }
  return refused;
}

/** One request, with the messages that it did not send. `isFaulty`: SQS blames the message. */
async function tryBatch(left: readonly Numbered[], { send }: SendMessagesOptions) {
  try {
    const { Failed = [] } = await send(
      left.map(({ body }, place) => ({ Id: `${place}`, MessageBody: body })),
    );
    const failed = Failed.flatMap(({ Id, Code, Message, SenderFault }) => {
      const message = left[Number(Id)];
      if (message === undefined) return [];
      const unsent = { index: message.index, cause: entryError(Code, Message), mayBeSent: false };
      return [{ message, isFaulty: SenderFault === true, unsent }];
    });
    return { kind: 'responded', failed } as const;
  } catch (error) {
    return { kind: 'thrown', error } as const;
  }
}

/** Some engines refuse a whole batch for one message: then each is sent by itself. */
async function afterThrown(
  left: readonly Numbered[],
  cause: unknown,
  options: SendMessagesOptions,
): Promise<readonly UnsentMessage[]> {
  const { failure } = new AwsError('send', cause);
  if (left.length === 1 || failure.kind !== 'other' || isQueueFailure(failure))
    return left.map(({ index }) => ({ index, cause, mayBeSent: true }));
  const unsent: UnsentMessage[] = [];
  for (const message of left) unsent.push(...(await sendBatch([message], options)));
  return unsent;
}

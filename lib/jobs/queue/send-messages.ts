import type { BatchResultErrorEntry } from '@aws-sdk/client-sqs';
import { entryError } from '../../base/index.ts';
import { batchesOf } from './message-batches.ts';
import { sendable } from './sendable.ts';
import { UnsentError, type UnsentMessage } from './unsent-error.ts';

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
  for (let round = 1; ; round += 1) {
    const failed = await tryBatch(left, options);
    const isFinal = ({ mayPass }: { readonly mayPass: boolean }) => !mayPass || round === MOST_ROUNDS;
    refused.push(...failed.filter(isFinal).map(({ unsent }) => unsent));
    left = failed.filter((each) => !isFinal(each)).map(({ message }) => message);
    if (left.length === 0) return refused;
    await options.sleep(PAUSE_MS * round);
  }
}

/** One request, and the messages that it did not send. `mayPass`: SQS does not blame the message. */
async function tryBatch(left: readonly Numbered[], { send }: SendMessagesOptions) {
  const entries = left.map(({ body }, place) => ({ Id: `${place}`, MessageBody: body }));
  try {
    const { Failed = [] } = await send(entries);
    return Failed.flatMap(({ Id, Code, Message, SenderFault }) => {
      const message = left[Number(Id)];
      if (message === undefined) return [];
      const unsent = { index: message.index, cause: entryError(Code, Message), mayBeSent: false };
      return [{ message, mayPass: SenderFault !== true, unsent }];
    });
  } catch (cause) {
    return left.map((message) => {
      const unsent = { index: message.index, cause, mayBeSent: true };
      return { message, mayPass: false, unsent };
    });
  }
}

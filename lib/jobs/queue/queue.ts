import { AwsError } from '../../base/aws/index.ts';
import { backoffMs } from '../../base/index.ts';
import { parseOwnJson } from '../../base/json/index.ts';

/** Maximum bytes of UTF-8 in a message, and in a batch of messages: SQS's limit. */
export const MAX_MESSAGE_BYTES = 256 * 1024;

/** A received message. Its `receipt` is needed to delete or delay it. */
export type QueueMessage = {
  readonly messageId: string;
  readonly body: string;
  /** The queue's name for the sender, such as `AIDAEXAMPLE:session`. */
  readonly sender: string;
  readonly sentAtMs?: number;
  readonly receives: number;
  /**
   * How many times a message may be received before it becomes a dead letter. Default: 1,000 times, as in the template.
   */
  readonly maxReceives?: number;
  readonly receipt: string;
};

/** How a queue treats messages that are not deleted. */
type QueueLimits = {
  /** How many times a message may be received before it becomes a dead letter; undefined if it never does. */
  readonly maxReceives: number | undefined;
  /** The ARN of the dead-letter queue. */
  readonly deadLetters: string | undefined;
  /** The age in seconds at which the queue deletes a message. */
  readonly retentionSeconds: number;
  /** The visibility timeout, in seconds, if the receiver does not set one. */
  readonly visibilitySeconds: number;
  /** The maximum bytes of a message. Default: `MAX_MESSAGE_BYTES`. */
  readonly maxBytes?: number;
  readonly isFifo?: boolean;
};

/** How a queue is polled, and when it counts as empty. */
export type Polls = {
  /** How long one poll waits for a message, from 0 to 20 s; SQS takes whole seconds. */
  readonly waitSeconds: number;
  /** How many polls in a row must find nothing before the queue counts as empty; at least 1. */
  readonly emptyPolls: number;
  /** Whether the queue's counts are exact, and include messages that were just requeued. Default: false. */
  readonly areCountsExact?: boolean;
};

/** A queue of jobs. Failures are thrown as `AwsError`. A message that is not deleted is delivered again. */
export type Queue = {
  /**
   * Sends messages, to be delivered after `delayMs` (at most 15 minutes; default 0). Tries all of them, and then throws
   * `UnsentError` if some were not sent.
   */
  send(bodies: readonly string[], options?: { readonly delayMs?: number }): Promise<void>;
  /**
   * Receives at most ten messages, after at most `waitSeconds` (0 to 20). Other receivers do not see them for
   * `visibilitySeconds`.
   */
  receive(options: {
    readonly max: number;
    /**
     * A separate maximum for messages of these types; `max` then only counts messages of all other types. Default: no
     * separate maximum.
     */
    readonly long?: { readonly types: readonly string[]; readonly max: number };
    readonly waitSeconds: number;
    readonly visibilitySeconds: number;
  }): Promise<readonly QueueMessage[]>;
  delete(receipt: string): Promise<void>;
  /** Returns the message to the queue, to be delivered again after `delayMs`, or the maximum delay of the queue. */
  delay(receipt: string, delayMs: number): Promise<void>;
  /** Extends the visibility timeout of a message that the receiver still handles to this long from now. Default: `delay`. */
  extend?(receipt: string, visibleAfterMs: number): Promise<void>;
  counts(): Promise<{ readonly waiting: number; readonly inFlight: number; readonly delayed: number }>;
  /**
   * The ids of all jobs on the queue, including those in progress. Absent for queues that cannot list their messages
   * (SQS).
   */
  ids?(): Promise<readonly string[]>;
  /** Reads the limits of the queue. Absent: the queue has the limits in the template. */
  limits?(): Promise<QueueLimits>;
  readonly polls?: Polls;
  /** Whether the queue supports `long`. Default: false. */
  readonly knowsTypes?: boolean;
};

/** A message that was not sent, and why. */
export type UnsentMessage = {
  /** The message's index among those to send. */
  readonly index: number;
  readonly cause: unknown;
  /** Whether the message may be on the queue anyway: the response to its request was lost. */
  readonly mayBeSent: boolean;
};

/**
 * Thrown if some messages were not sent, after all others were. `failure`: the failure of the first message that was
 * certainly not sent, or else of the first message.
 */
export class UnsentError extends AwsError {
  override readonly name = 'UnsentError';
  readonly queue: string;
  readonly unsent: readonly UnsentMessage[];

  constructor(queue: string, messages: number, unsent: readonly [UnsentMessage, ...UnsentMessage[]]) {
    const isExact = unsent.every(({ mayBeSent }) => !mayBeSent);
    const { cause } = unsent.find(({ mayBeSent }) => !mayBeSent) ?? unsent[0];
    const sent = `sent ${isExact ? '' : 'at least '}${messages - unsent.length} of ${messages} messages`;
    super('queue', `${queue}: ${sent}, ${isExact ? '' : 'perhaps '}not number ${numbers(unsent)}`, cause);
    this.queue = queue;
    this.unsent = unsent;
  }

  /** Whether the queue cannot be used at all, so that no message can be sent. */
  get isOfQueue(): boolean {
    return QUEUE_KINDS.includes(this.failure.kind) || QUEUE_CODE.test(this.failure.code);
  }
}

const QUEUE_KINDS: readonly string[] = ['denied', 'missing', 'unreachable', 'unconfigured'];

// Codes of errors about the queue as a whole: a fault of its KMS key, a URL or protocol that SQS does not accept, or a
// FIFO queue, which requires a group.
const QUEUE_CODE =
  /^(KMS\.|Kms)|(^|\.)(InvalidAddress|InvalidSecurity|UnsupportedOperation|MissingParameter)$/;

const MAX_LISTED = 20;

function numbers(unsent: readonly UnsentMessage[]): string {
  const shown = unsent.slice(0, MAX_LISTED).map(({ index }) => index + 1);
  const rest = unsent.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Escapes the characters in a message's JSON that SQS refuses. Source: SendMessage in the SQS API reference. */
export const sendable = (body: string): string =>
  body.replaceAll(UNSENDABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The bytes of UTF-8 that the body has when it is sent. Each escape takes six bytes. */
export function sentBytes(body: string): number {
  // Computed without inserting the escapes: to insert millions of them takes seconds.
  const accepted = body.replaceAll(UNSENDABLE, '');
  return Buffer.byteLength(accepted) + 6 * (body.length - accepted.length);
}

// With the flag `u`, a lone surrogate and a surrogate pair are one character each.
const UNSENDABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/**
 * Long polls for SQS, whose short polls ask only some of its servers: 20 s in total before the queue counts as empty. Each
 * poll takes only 2 s, since Ctrl-C must wait for its end: an aborted poll would hide the messages that it was about to
 * return. Source: "Amazon SQS short and long polling", Amazon SQS Developer Guide.
 */
export const LONG_POLLS: Polls = { waitSeconds: 2, emptyPolls: 10 };

/**
 * Creates a function that decides after each poll whether the queue is empty. Counts that are not exact may be a minute
 * old, so several polls in a row must find nothing, the counts must be zero, and one more poll must find nothing.
 */
export function createEmptyCheck(queue: Pick<Queue, 'counts'>, polls: Polls) {
  let emptyPolls = 0;
  let isConfirming = false;
  /**
   * `foundNothing`: whether the poll found nothing, and no message is known to become due. `staying`: how many messages are
   * not to be handled, and stay on the queue.
   */
  return async ({
    foundNothing,
    staying = 0,
  }: {
    readonly foundNothing: boolean;
    readonly staying?: number;
  }) => {
    if (polls.areCountsExact === true) return total(await queue.counts()) <= staying;
    emptyPolls = foundNothing ? emptyPolls + 1 : 0;
    if (emptyPolls >= polls.emptyPolls && isConfirming) return true;
    isConfirming = emptyPolls >= polls.emptyPolls && total(await queue.counts()) <= staying;
    return false;
  };
}

/** The number of messages in all states. */
export const total = ({ waiting, inFlight, delayed }: Awaited<ReturnType<Queue['counts']>>) =>
  waiting + inFlight + delayed;

/** The type of a message; empty if it has none. */
export function typeIn(body: string): string {
  try {
    return String((parseOwnJson(body) as { readonly type?: unknown }).type ?? '');
  } catch {
    return '';
  }
}

const MAX_IN_BATCH = 10;

/** Divides messages, in order, into batches that SQS accepts: each has at most 10 messages and 256 KB of UTF-8. */
export function* batchesOf(messages: Iterable<string>): Generator<readonly string[]> {
  let batch: string[] = [];
  let batchBytes = 0;
  for (const message of messages) {
    const bytes = Buffer.byteLength(message);
    if (batch.length === MAX_IN_BATCH || (batch.length > 0 && batchBytes + bytes > MAX_MESSAGE_BYTES)) {
      yield batch;
      [batch, batchBytes] = [[], 0];
    }
    batch.push(message);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}

/**
 * The waits between tries while a queue is unavailable, in milliseconds. Each try already includes three attempts of the
 * SDK.
 */
const QUEUE_BACKOFF = { baseDelayMs: 1_000, maxDelayMs: 20_000 };

/** How long to wait before the next request to an unavailable queue, with some jitter. `tries`: 1 is the first. */
export const queueWaitMs = (tries: number, random: number): number =>
  backoffMs(tries, 0.5 + random / 2, QUEUE_BACKOFF);

import { AwsError } from '../../base/aws/index.ts';
import { backoffMs } from '../../base/index.ts';
import { parseOwnJson } from '../../base/json/index.ts';

/** Maximum bytes of UTF-8 in a message, and in a batch of messages: SQS's limit. */
export const MAX_MESSAGE_BYTES = 256 * 1024;

export type QueueMessage = {
  readonly messageId: string;
  readonly body: string;
  /** The queue's name for the sender, such as `AIDAEXAMPLE:session`. */
  readonly sender: string;
  readonly sentAtMs?: number;
  readonly receives: number;
  /** How often it is received before it becomes a dead letter. Default: as in the template, 1,000 times. */
  readonly maxReceives?: number;
  readonly receipt: string;
};

/** What a queue does by itself with messages that are not deleted. */
type QueueLimits = {
  /** A message that would be received more often becomes a dead letter; undefined: none does. */
  readonly maxReceives: number | undefined;
  /** The ARN of the dead-letter queue. */
  readonly deadLetters: string | undefined;
  /** Older messages are deleted. */
  readonly retentionSeconds: number;
  /** How long a received message stays hidden if its receiver does not say. */
  readonly visibilitySeconds: number;
  /** The largest message that it takes. Default: `MAX_MESSAGE_BYTES`. */
  readonly maxBytes?: number;
  readonly isFifo?: boolean;
};

export type Polls = {
  /** How long one poll waits for a message, 0 to 20 s; whole seconds for SQS. */
  readonly waitSeconds: number;
  /** How many polls in a row must return nothing for the queue to count as empty; at least 1. */
  readonly quiet: number;
  /** The queue's counts are current: they include messages that were just requeued. Default: false. */
  readonly areCountsExact?: boolean;
};

/** A queue of jobs. Failures are thrown as `AwsError`; a message that is not deleted is delivered again. */
export type Queue = {
  /**
   * Tries every message, and then throws `UnsentError`. They are delivered after `delayMs`, 15 minutes at most; default
   * 0.
   */
  send(bodies: readonly string[], options?: { readonly delayMs?: number }): Promise<void>;
  /**
   * At most ten messages, after at most `waitSeconds` (0 to 20). Other receivers do not see them for
   * `visibilitySeconds`.
   */
  receive(options: {
    readonly most: number;
    /**
     * A separate maximum for messages of these types; `most` is the maximum of the others. Default: all types are alike.
     */
    readonly long?: { readonly types: readonly string[]; readonly most: number };
    readonly waitSeconds: number;
    readonly visibilitySeconds: number;
  }): Promise<readonly QueueMessage[]>;
  delete(receipt: string): Promise<void>;
  /** The message is delivered again after `delayMs`; earlier if that is longer than the queue can hide it. */
  delay(receipt: string, delayMs: number): Promise<void>;
  /** The message stays with its receiver, hidden for this long from now. Default: `delay`. */
  extend?(receipt: string, visibleAfterMs: number): Promise<void>;
  counts(): Promise<{ readonly waiting: number; readonly inFlight: number; readonly delayed: number }>;
  /** The ids of the jobs on it, those in progress too. Absent: it shows a message to its receiver alone. */
  ids?(): Promise<readonly string[]>;
  /** Absent: as in the template. */
  limits?(): Promise<QueueLimits>;
  readonly polls?: Polls;
  /** It honours `long`. Default: false. */
  readonly knowsTypes?: boolean;
};

export type UnsentMessage = {
  /** Its index among the messages to send. */
  readonly index: number;
  readonly cause: unknown;
  /** Its request got no usable response, so it may be on the queue all the same. */
  readonly mayBeSent: boolean;
};

/** Some messages were not sent; all others were. The failure is that of the first refused message. */
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

  /** The queue cannot be used at all, so no other message can be sent either. */
  get isOfQueue(): boolean {
    return QUEUE_KINDS.includes(this.failure.kind) || QUEUE_CODE.test(this.failure.code);
  }
}

const QUEUE_KINDS: readonly string[] = ['denied', 'missing', 'unreachable', 'unconfigured'];

// The key that encrypts the queue; a URL or a protocol that SQS does not accept; a FIFO queue, which needs a group.
const QUEUE_CODE =
  /^(KMS\.|Kms)|(^|\.)(InvalidAddress|InvalidSecurity|UnsupportedOperation|MissingParameter)$/;

const MAX_NAMED = 20;

function numbers(unsent: readonly UnsentMessage[]): string {
  const named = unsent.slice(0, MAX_NAMED).map(({ index }) => index + 1);
  const rest = unsent.length - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** A message's JSON with the characters escaped that SQS refuses. Source: SendMessage in the SQS API reference. */
export const sendable = (body: string): string =>
  body.replaceAll(REFUSED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The bytes of UTF-8 of the body when it is sent. Each escape takes six. */
export function sentBytes(body: string): number {
  // Measured without the escapes: inserting millions of them takes seconds.
  const accepted = body.replaceAll(REFUSED, '');
  return Buffer.byteLength(accepted) + 6 * (body.length - accepted.length);
}

// With the flag `u`, a lone surrogate is a character of its own, and a pair is one character.
const REFUSED = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/**
 * Long polls, 20 s of them, for SQS, whose short polls ask only some of its servers. Each is short enough for Ctrl-C,
 * which waits for its end: aborting one would hide the messages that it was about to return. Source: "Amazon SQS short
 * and long polling", Amazon SQS Developer Guide.
 */
export const LONG_POLLS: Polls = { waitSeconds: 2, quiet: 10 };

/** For a queue of this host, whose counts are exact: a command ends this soon after its last job. */
export const EXACT_POLLS: Polls = { waitSeconds: 0.25, quiet: 1, areCountsExact: true };

/**
 * Decides after each poll whether the queue is empty. Unless they are exact, counts are approximate and may be a minute
 * old: enough polls in a row must have been quiet, then the counts empty, and then one more poll quiet.
 */
export function createEmptyCheck(queue: Pick<Queue, 'counts'>, polls: Polls) {
  let quiet = 0;
  let isConfirming = false;
  /**
   * `isQuiet`: the poll returned nothing, and no message is known to be due. `staying`: how many messages are to stay.
   */
  return async ({ isQuiet, staying = 0 }: { readonly isQuiet: boolean; readonly staying?: number }) => {
    if (polls.areCountsExact === true) return total(await queue.counts()) <= staying;
    quiet = isQuiet ? quiet + 1 : 0;
    if (quiet >= polls.quiet && isConfirming) return true;
    isConfirming = quiet >= polls.quiet && total(await queue.counts()) <= staying;
    return false;
  };
}

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

/** The messages, in order, in batches that SQS accepts: each of at most 10 messages and 256 KB of UTF-8. */
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

/** Waits between tries while a queue is unavailable. The SDK has tried three times before each. */
const TRIES = { baseDelayMs: 1_000, maxDelayMs: 20_000 };

/** How long to wait before the next request of a queue that is unavailable, with some jitter. `tries`: 1 is the first. */
export const queueWaitMs = (tries: number, random: number): number =>
  backoffMs(tries, 0.5 + random / 2, TRIES);

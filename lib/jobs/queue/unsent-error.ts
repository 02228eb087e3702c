import { AwsError } from '../../base/index.ts';

/** A message that was not sent, or of which it is not known that it was. */
export type UnsentMessage = {
  /** Its place among those that were to be sent; 0 is the first. */
  readonly index: number;
  readonly cause: unknown;
  /** Its request got no usable response, so it may be on the queue all the same. */
  readonly mayBeSent: boolean;
};

/** Some messages were not sent; all the others were. The failure is that of the first message that was refused. */
export class UnsentError extends AwsError {
  override readonly name = 'UnsentError';
  readonly queue: string;
  readonly unsent: readonly UnsentMessage[];

  constructor(queue: string, messages: number, unsent: readonly [UnsentMessage, ...UnsentMessage[]]) {
    const isExact = unsent.every(({ mayBeSent }) => !mayBeSent);
    const { cause } = unsent.find(({ mayBeSent }) => !mayBeSent) ?? unsent[0];
    const sent = `sent ${isExact ? '' : 'at least '}${messages - unsent.length} of ${messages} messages`;
    super(`${queue}: ${sent}, ${isExact ? '' : 'perhaps '}not number ${numbers(unsent)}`, cause);
    this.queue = queue;
    this.unsent = unsent;
  }

  /** The queue cannot be used at all, so no other message can be sent either. */
  get isOfQueue(): boolean {
    return QUEUE_KINDS.includes(this.failure.kind) || QUEUE_CODE.test(this.failure.code);
  }
}

const QUEUE_KINDS: readonly string[] = ['denied', 'missing', 'unreachable', 'unconfigured'];

// The key that encrypts the queue; a URL or a protocol that SQS does not take; a FIFO queue, which needs a group.
const QUEUE_CODE =
  /^(KMS\.|Kms)|(^|\.)(InvalidAddress|InvalidSecurity|UnsupportedOperation|MissingParameter)$/;

/**
 * Sends messages, and returns those that could not be sent though others can. Throws what else went wrong, such as that
 * the queue cannot be used at all.
 */
export async function unsentOf(send: () => Promise<void>): Promise<readonly UnsentMessage[]> {
  try {
    await send();
    return [];
  } catch (error) {
    if (!(error instanceof UnsentError) || error.isOfQueue) throw error;
    return error.unsent;
  }
}

/** How many messages an error names. */
const MOST_NAMED = 20;

/** Messages as a person counts them: the first is number 1. */
function numbers(unsent: readonly UnsentMessage[]): string {
  const named = unsent.slice(0, MOST_NAMED).map(({ index }) => index + 1);
  const rest = unsent.length - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

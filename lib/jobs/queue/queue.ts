/** The most bytes of UTF-8 in a message, and in a batch of messages: SQS's limit. */
export const MOST_MESSAGE_BYTES = 256 * 1024;

/** A message as received from the queue. */
export type QueueMessage = {
  readonly messageId: string;
  readonly body: string;
  /** Who sent it, as the queue names the sender, such as `AIDAEXAMPLE:session`. */
  readonly sender: string;
  /** When it was sent, in epoch milliseconds. */
  readonly sentAtMs?: number;
  /** How often it has been received, this time included. */
  readonly receives: number;
  /** What it is deleted or delayed by. */
  readonly receipt: string;
};

/** Roughly how many messages a queue holds. */
export type QueueCounts = { readonly waiting: number; readonly inFlight: number; readonly delayed: number };

/** How a queue is polled by who wants to empty it. */
export type Polls = {
  /** How long one poll waits for a message, 0 to 20. */
  readonly waitSeconds: number;
  /** How many polls in a row must return nothing before the queue may be called empty; at least 1. */
  readonly quiet: number;
  /** The queue's counts are those of this moment, so what was put back is among them. Default: false. */
  readonly areCountsExact?: boolean;
};

/** A queue of jobs. Failures are thrown as `AwsError`; a message that is not deleted is delivered again. */
export type Queue = {
  /**
   * Sends messages in as few requests as possible. Tries every one of them, and then throws `UnsentError` if any could
   * not be sent. They are delivered after `delayMs`, 15 minutes at most; by default at once.
   */
  send(bodies: readonly string[], options?: { readonly delayMs?: number }): Promise<void>;
  /** At most ten, after at most `waitSeconds` (0 to 20). Other receivers do not see them for `visibilitySeconds`. */
  receive(options: {
    readonly most: number;
    readonly waitSeconds: number;
    readonly visibilitySeconds: number;
  }): Promise<readonly QueueMessage[]>;
  delete(receipt: string): Promise<void>;
  /** The message is delivered again after `delayMs`; earlier if that is longer than the queue can hide it. */
  delay(receipt: string, delayMs: number): Promise<void>;
  /** The message stays with who received it, hidden for so long from now. Default: `delay`. */
  extend?(receipt: string, visibleAfterMs: number): Promise<void>;
  counts(): Promise<QueueCounts>;
  /** How whoever wants to empty it polls. Default: `LONG_POLLS`. */
  readonly polls?: Polls;
};

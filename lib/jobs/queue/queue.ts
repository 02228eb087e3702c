/** The most bytes of UTF-8 of a message, and of a batch of them: SQS's limit. */
export const MOST_MESSAGE_BYTES = 256 * 1024;

/** A message as it came from the queue. */
export type QueueMessage = {
  readonly messageId: string;
  readonly body: string;
  /** Who sent it: the queue's word for it, such as `AIDAEXAMPLE:session`. */
  readonly sender: string;
  /** When it was sent, in epoch milliseconds. */
  readonly sentAtMs?: number;
  /** How often it has been received, this time included. */
  readonly receives: number;
  /** By which it is deleted or delayed. */
  readonly receipt: string;
};

/** How many messages a queue holds, roughly. */
export type QueueCounts = { readonly waiting: number; readonly inFlight: number; readonly delayed: number };

/** A queue of jobs. Failures are thrown as `AwsError`; a message that is not deleted comes back. */
export type Queue = {
  /** Sends texts, in as few requests as can be. Throws if any of them could not be sent, and says how many were. */
  send(bodies: readonly string[]): Promise<void>;
  /** At most ten, after at most `waitSeconds` (0 to 20). They are nobody else's for `visibilitySeconds`. */
  receive(options: {
    readonly most: number;
    readonly waitSeconds: number;
    readonly visibilitySeconds: number;
  }): Promise<readonly QueueMessage[]>;
  delete(receipt: string): Promise<void>;
  /** The message comes back after so long, at most 12 hours; of more it is 12 hours. */
  delay(receipt: string, delayMs: number): Promise<void>;
  counts(): Promise<QueueCounts>;
};

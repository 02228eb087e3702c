import { AwsError } from '../../base/index.ts';

/** SQS's own limit on how long a message may be hidden, counted from when it was received. */
const MOST_HIDDEN_SECONDS = 43_200;

/** The longest that a deployed worker may hold a message before it delays it: Lambda's limit, and 5 minutes of slack. */
const LONGEST_HOLD_SECONDS = 900 + 300;

const MOST_DELAY_SECONDS = MOST_HIDDEN_SECONDS - LONGEST_HOLD_SECONDS;

/** A delay that was refused is halved until it is shorter than this. */
const LEAST_DELAY_SECONDS = 60;

export type DelayMessageOptions = {
  /** The queue, as errors name it. */
  readonly queue: string;
  /** Sets how many seconds from now the message stays hidden. */
  readonly hide: (seconds: number) => Promise<unknown>;
};

/**
 * Delays a message, or for as long as SQS hides one that was held for the longest time. A message that was held even
 * longer, as `work` may, is refused so long a delay: then it is halved. Throws `AwsError` if none is accepted.
 */
export async function delayMessage(delayMs: number, { queue, hide }: DelayMessageOptions): Promise<void> {
  let seconds = Math.min(MOST_DELAY_SECONDS, Math.ceil(delayMs / 1000));
  for (;;) {
    try {
      await hide(seconds);
      return;
    } catch (cause) {
      const error = new AwsError(`delay a message on ${queue}`, cause);
      if (seconds / 2 < LEAST_DELAY_SECONDS || !isTooLong(error)) throw error;
      seconds = Math.floor(seconds / 2);
    }
  }
}

/** A receipt that is invalid has the same code, but a shorter delay would not help it. */
const isTooLong = ({ failure, message }: AwsError) =>
  /(^|\.)InvalidParameterValue/.test(failure.code) && !/receipt/i.test(message);

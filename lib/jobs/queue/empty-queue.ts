import type { Polls, Queue } from './queue.ts';

/**
 * Long polls, 20 s of them. A short poll asks only some of SQS's servers, so it may return nothing while messages wait;
 * a long one asks all of them. Each is short enough for Ctrl-C, which waits for its end: aborting one would hide the
 * messages that it was about to return for their visibility timeout.
 * Source: "Amazon SQS short and long polling", Amazon SQS Developer Guide.
 */
export const LONG_POLLS: Polls = { waitSeconds: 2, quiet: 10 };

/** For a queue of this host, which knows what it holds. */
export const EXACT_POLLS: Polls = { waitSeconds: 2, quiet: 1, areCountsExact: true };

/**
 * Says after each poll whether the queue is empty. The counts are approximate and may be a minute old, so they alone
 * prove nothing: enough polls in a row must have been quiet, then the counts empty, and then one more poll quiet.
 */
export function createEmptyCheck(queue: Pick<Queue, 'counts'>, polls: Polls) {
  let quiet = 0;
  let isConfirming = false;
  /** `isQuiet`: the poll returned nothing, and nothing is known to come. `staying`: messages that are to stay there. */
  return async ({ isQuiet, staying = 0 }: { readonly isQuiet: boolean; readonly staying?: number }) => {
    quiet = isQuiet ? quiet + 1 : 0;
    if (quiet >= polls.quiet && isConfirming) return true;
    isConfirming = quiet >= polls.quiet && total(await queue.counts()) <= staying;
    return false;
  };
}

/** All messages that a queue counts. */
export const total = ({ waiting, inFlight, delayed }: Awaited<ReturnType<Queue['counts']>>) =>
  waiting + inFlight + delayed;

import type { Analyze } from '../../jobs/texts/scoring/run.ts';
import { isUnreached, PlatformError } from '../../platform/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type UntilReachedOptions = Pick<Terminal, 'screen' | 'signal'> & {
  readonly analyze: Analyze;
  /** Milliseconds on any clock. */
  readonly now: () => number;
};

/** How long somebody who watches waits to learn that the platform cannot be reached at its address. */
const LONGEST_UNREACHED_MS = 5_000;

/**
 * Calls of a batch that somebody watches: `signal` is aborted with the failure once no call has reached the platform for
 * five seconds since the first one, most likely since its address is wrong. Once it was reached, or where nobody
 * watches, its return is waited for as ever.
 */
export function untilReached({ analyze, screen, signal, now }: UntilReachedOptions): {
  readonly analyze: Analyze;
  readonly signal: AbortSignal;
} {
  if (screen === undefined) return { analyze, signal };
  const unreached = new AbortController();
  let firstMs: number | undefined;
  let wasReached = false;
  return {
    signal: AbortSignal.any([signal, unreached.signal]),
    async analyze(request, options) {
      firstMs ??= now();
      try {
        const sentiment = await analyze(request, options);
        wasReached = true;
        return sentiment;
      } catch (error) {
        if (error instanceof PlatformError) {
          // A call that only waited for its turn says nothing.
          if (error.attempts > 0 && !isUnreached(error.failure)) wasReached = true;
          if (!wasReached && isUnreached(error.failure) && now() - firstMs >= LONGEST_UNREACHED_MS)
            unreached.abort(error);
        }
        throw error;
      }
    },
  };
}

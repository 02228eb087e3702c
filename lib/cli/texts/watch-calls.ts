import type { Analyze } from '../../jobs/texts/scoring/run.ts';
import { isUnreached, PlatformError } from '../../platform/index.ts';
import { number, type Terminal } from '../terminal/terminal.ts';

export type WatchCallsOptions = Pick<Terminal, 'screen' | 'signal'> & {
  readonly analyze: Analyze;
  /** Milliseconds on any clock. */
  readonly now: () => number;
};

/** How long somebody who watches waits to learn that the platform cannot be reached at its address. */
const LONGEST_UNREACHED_MS = 5_000;

/**
 * Calls of a batch, and what they may have cost: `paid()` says it in words, at any time. Where somebody watches, `signal`
 * is aborted with the failure once no call has reached the platform for five seconds since the first one, most likely
 * since its address is wrong.
 */
export function watchCalls({ analyze, screen, signal, now }: WatchCallsOptions) {
  const counts = { calls: 0, scored: 0, tokens: 0 };
  const unreached = new AbortController();
  let firstMs: number | undefined;
  let wasReached = screen === undefined;
  const failed = (error: unknown) => {
    // A call that only waited for its turn says nothing.
    if (wasReached || !(error instanceof PlatformError)) return;
    if (!isUnreached(error.failure)) wasReached = error.attempts > 0;
    else if (now() - (firstMs ?? now()) >= LONGEST_UNREACHED_MS) unreached.abort(error);
  };
  const watched: Analyze = async (request, { onLeave, ...options } = {}) => {
    firstMs ??= now();
    const leave = () => {
      onLeave?.();
      counts.calls += 1;
    };
    try {
      const sentiment = await analyze(request, { ...options, onLeave: leave });
      wasReached = true;
      counts.scored += 1;
      counts.tokens += Number(sentiment.modelProviderUsage?.totalTokens ?? 0);
      return sentiment;
    } catch (error) {
      failed(error);
      throw error;
    }
  };
  const paid = () => {
    const [calls, scored, tokens] = [counts.calls, counts.scored, counts.tokens].map(number);
    return `calls of this run: ${calls}; ${scored} of them scored a text, which used ${tokens} tokens`;
  };
  return { analyze: watched, signal: AbortSignal.any([signal, unreached.signal]), paid };
}

import type { Analyze } from '../jobs/texts/scoring/score-texts-options.ts';

/** Counts what calls may have cost, for a run that is stopped: `paid()` says it in words, at any time. */
export function countSentiments(analyze: Analyze): {
  readonly analyze: Analyze;
  readonly paid: () => string;
} {
  const counts = { calls: 0, scored: 0, tokens: 0 };
  return {
    async analyze(request, { onLeave, ...options } = {}) {
      const sentiment = await analyze(request, {
        ...options,
        onLeave: () => {
          onLeave?.();
          counts.calls += 1;
        },
      });
      counts.scored += 1;
      const { totalTokens = 0 } = sentiment.modelProviderUsage ?? {};
      counts.tokens += Number(totalTokens);
      return sentiment;
    },
    paid: () => {
      const [calls, scored, tokens] = [counts.calls, counts.scored, counts.tokens].map(number);
      return `calls of this run: ${calls}; ${scored} of them scored a text, which used ${tokens} tokens`;
    },
  };
}

const number = (value: number) => value.toLocaleString('en');

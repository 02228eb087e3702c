import type { Sentiments } from '../facts.ts';
import { type Members, sizeIn } from './values.ts';

type Name = keyof Sentiments;

export type SentimentCounts = { -readonly [N in Name]: number };

export const noSentiments = (): SentimentCounts => ({
  positive: 0,
  negative: 0,
  neutral: 0,
  not_applicable: 0,
  other: 0,
});

/** The name that a sentiment is counted under. */
export function sentimentName(sentiment: string): Name {
  const name = sentiment.toLowerCase();
  return name === 'positive' || name === 'negative' || name === 'neutral' || name === 'not_applicable'
    ? name
    : 'other';
}

/** Counts by sentiment, as a summary has them. */
export function sentimentsOf(counts: Members): Sentiments {
  const sum = noSentiments();
  for (const [sentiment, count] of Object.entries(counts))
    sum[sentimentName(sentiment)] += sizeIn(count) ?? 0;
  return sum;
}

import { assumed } from './assumed.ts';
import { createMentions, type Topic } from './mentions.ts';
import { sentencesOf, wordsOf } from './words.ts';

/** The sentiment of a text as a whole. */
type Sentiment = 'POSITIVE' | 'NEGATIVE' | 'NEUTRAL';

/** The sentiment towards a topic; NOT_APPLICABLE if no sentence mentions it. */
type TopicSentiment = Sentiment | 'NOT_APPLICABLE';

/** A text to score, for each of its topics or, without topics, as a whole. */
export type SentimentRequest = {
  readonly text: string;
  readonly topics?: readonly Topic[] | null | undefined;
};

/** `targeted` has one entry for each topic, under the given name and in the given order. */
export type SentimentAnalysis =
  | { readonly kind: 'targeted'; readonly topicSentiments: Readonly<Record<string, TopicSentiment>> }
  | { readonly kind: 'overall'; readonly sentiment: Sentiment };

/** Scores a text with the VADER lexicon, sentence by sentence. The same request always gets the same result. */
export async function analyzeSentiment({ text, topics }: SentimentRequest): Promise<SentimentAnalysis> {
  const score = await loadScorer();
  const sentences = sentencesOf(text);
  if (!topics || topics.length === 0) {
    return { kind: 'overall', sentiment: sentimentOf(sentences.map(score)) };
  }

  const scored = sentences.map((sentence) => ({ words: wordsOf(sentence), compound: score(sentence) }));
  const topicSentiments = topics.map((topic): [string, TopicSentiment] => {
    const mentions = createMentions(topic);
    const compounds = scored.filter(({ words }) => mentions(words)).map(({ compound }) => compound);
    return [topic.topic, compounds.length === 0 ? 'NOT_APPLICABLE' : sentimentOf(compounds)];
  });
  return { kind: 'targeted', topicSentiments: Object.fromEntries(topicSentiments) };
}

/** The lexicon is loaded for the first text. A score is between -1 and 1. */
async function loadScorer(): Promise<(sentence: string) => number> {
  const { SentimentIntensityAnalyzer } = await import('vader-sentiment');
  const tooLong = new RegExp(`\\S{${assumed.longestWord + 1},}`, 'g');
  return (sentence) => SentimentIntensityAnalyzer.polarity_scores(sentence.replace(tooLong, ' ')).compound;
}

function sentimentOf(compounds: readonly number[]): Sentiment {
  const mean = compounds.reduce((sum, compound) => sum + compound, 0) / Math.max(1, compounds.length);
  if (mean > assumed.neutralBand) return 'POSITIVE';
  return mean < -assumed.neutralBand ? 'NEGATIVE' : 'NEUTRAL';
}

/** The part of vader-sentiment that is used here; the package has no types. */
declare module 'vader-sentiment' {
  export const SentimentIntensityAnalyzer: {
    /** Shares of negative, neutral and positive words (0 to 1), and a compound score from -1 to 1. */
    polarity_scores(text: string): { neg: number; neu: number; pos: number; compound: number };
  };
}

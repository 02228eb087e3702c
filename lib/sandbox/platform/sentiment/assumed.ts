/**
 * What this folder assumes where neither the contract nor the platform's practice says anything. Other choices:
 * - Sentiments are in upper case, as NOT_APPLICABLE is in the contract; a text without words is NEUTRAL.
 * - A topic is mentioned by its name (underscores are spaces) or by any significant word of its description; case
 *   and a simple plural make no difference.
 * - The sentiment of a topic is the mean over the sentences that mention it, that of a text the mean over all of them.
 */
export const assumed = {
  /** A mean compound score above it is POSITIVE; below its negative, NEGATIVE. Source: the README of VADER. */
  neutralBand: 0.05,
  /** Longer words are left out: the lexicon has none, and VADER's patterns take cubic time over them. */
  longestWord: 64,
  /** Shorter words of a description are not significant. */
  significantWordLength: 4,
  /** Words of a description that say nothing about its topic. */
  insignificantWords: new Set(
    `about after also anything because been before being between both customer does each either every everything feel
    feeling felt from general have having into just like more most much must only opinion other over overall regarding
    related same sentiment should some someone something such talk text than that their them then there these they thing
    think this those toward towards under user very were what when where whether which while will with without would your`.split(
      /\s+/,
    ),
  ),
  /** A token is about this many UTF-16 code units of English. */
  charactersPerToken: 4,
  /** The instructions that a model would be given before the text. */
  promptTokens: 120,
  /** What surrounds each topic in the prompt, besides its name and description. */
  topicTokens: 8,
  /** What a model would return for each topic, or for the text as a whole. */
  outputTokens: 12,
} as const;

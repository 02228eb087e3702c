type Sentiment = 'POSITIVE' | 'NEGATIVE' | 'NEUTRAL';

/** The sentiment towards a topic; NOT_APPLICABLE if no sentence mentions it. */
type TopicSentiment = Sentiment | 'NOT_APPLICABLE';

/**
 * Scores a text with the VADER lexicon, sentence by sentence. The same request always gets the same result. `targeted`
 * has one entry for each topic, under the topic's name and in the order of the request.
 */
export async function analyzeSentiment({
  text,
  topics,
}: {
  readonly text: string;
  readonly topics?: readonly Topic[] | null | undefined;
}): Promise<
  | { readonly kind: 'targeted'; readonly topicSentiments: Readonly<Record<string, TopicSentiment>> }
  | { readonly kind: 'overall'; readonly sentiment: Sentiment }
> {
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

/** Loads the scorer. A score is between -1 and 1. */
async function loadScorer(): Promise<(sentence: string) => number> {
  const { SentimentIntensityAnalyzer } = await import('vader-sentiment');
  const tooLong = new RegExp(`\\S{${assumed.maxWordLength + 1},}`, 'g');
  return (sentence) => SentimentIntensityAnalyzer.polarity_scores(sentence.replace(tooLong, ' ')).compound;
}

function sentimentOf(compounds: readonly number[]): Sentiment {
  const mean = compounds.reduce((sum, compound) => sum + compound, 0) / Math.max(1, compounds.length);
  if (mean > assumed.neutralBand) return 'POSITIVE';
  return mean < -assumed.neutralBand ? 'NEGATIVE' : 'NEUTRAL';
}

/**
 * What this folder assumes where neither the contract nor the platform's practice says anything. Other choices:
 * - Sentiments are in upper case, as NOT_APPLICABLE is in the contract; a text without words is NEUTRAL.
 * - A topic is mentioned by its name (underscores are spaces) or by any significant word of its description; case
 *   and a simple plural make no difference.
 * - The sentiment of a topic is the mean over the sentences that mention it; of a text, over all sentences.
 */
const assumed = {
  /** A mean compound score above this is POSITIVE; below the negative of it, NEGATIVE. Source: the README of VADER. */
  neutralBand: 0.05,
  /**
   * Maximum characters of a word that is scored: the lexicon has no longer words, and VADER's patterns
   * need cubic time for long words.
   */
  maxWordLength: 64,
  significantWordLength: 4,
  insignificantWords: new Set(
    `about,after,also,anything,because,been,before,being,between,both,customer,does,each,either,every,
    everything,feel,feeling,felt,from,general,have,having,into,just,like,more,most,much,must,only,opinion,other,
    over,overall,regarding,related,same,sentiment,should,some,someone,something,such,talk,text,than,that,their,
    them,then,there,these,they,thing,think,this,those,toward,towards,under,user,very,were,what,when,where,
    whether,which,while,will,with,without,would,your`.split(/,\s*/),
  ),
  /** The approximate length of a token of English text, in UTF-16 code units. */
  charactersPerToken: 4,
  promptTokens: 120,
  topicTokens: 8,
  outputTokens: 12,
} as const;

/**
 * Returns what a call would have cost with a model provider, in tokens. They are computed only from lengths (see
 * `assumed`), so equal requests cost the same. Reasoning tokens are always 0; `totalTokens` is the sum of the others.
 */
export function countUsage({
  texts,
  topics,
  instructions,
}: {
  readonly texts: readonly string[];
  readonly topics?: readonly Topic[] | null | undefined;
  readonly instructions?: string | null | undefined;
}): {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
} {
  const requested = topics ?? [];
  const topicTexts = requested.flatMap(({ topic, description }) => [topic, description ?? '']);
  const read = [...texts, instructions ?? '', ...topicTexts].map(tokensOf);
  const framing = assumed.promptTokens + assumed.topicTokens * requested.length;
  const inputTokens = read.reduce((sum, tokens) => sum + tokens, framing);
  const outputTokens = assumed.outputTokens * Math.max(1, requested.length);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, reasoningTokens: 0 };
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / assumed.charactersPerToken);
}

/** A word and its possible singulars. */
type WordForms = ReadonlySet<string>;

function wordsOf(text: string): WordForms[] {
  const segments = [...wordSegmenter.segment(text.normalize('NFKC').toLowerCase())];
  return segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => formsOf(segment));
}

function isSameWord(one: WordForms, other: WordForms): boolean {
  return !one.isDisjointFrom(other);
}

function sentencesOf(text: string): string[] {
  return [...sentenceSegmenter.segment(text)].map(({ segment }) => segment.trim()).filter(Boolean);
}

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });
const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

const MIN_PLURAL_LENGTH = 4;

function formsOf(word: string): WordForms {
  const bare = word.replace(/['’]s?$/, '');
  if (bare.length < MIN_PLURAL_LENGTH || !bare.endsWith('s') || bare.endsWith('ss')) return new Set([bare]);
  return new Set([
    bare,
    bare.slice(0, -1),
    bare.replace(/ies$/, 'y'),
    bare.replace(/(s|x|z|ch|sh)es$/, '$1'),
  ]);
}

type Topic = { readonly topic: string; readonly description?: string | undefined };

/** Finds mentions of a topic: its name, word by word, or the significant words of its description. */
function createMentions({ topic, description = '' }: Topic): (words: readonly WordForms[]) => boolean {
  const name = wordsOf(topic.replaceAll('_', ' '));
  const hints = wordsOf(description).filter(isSignificant);
  return (words) =>
    hasPhrase(words, name) || hints.some((hint) => words.some((word) => isSameWord(word, hint)));
}

function hasPhrase(words: readonly WordForms[], phrase: readonly WordForms[]): boolean {
  const [first, ...rest] = phrase;
  if (!first) return false;
  return words.some((word, at) => {
    if (!isSameWord(word, first)) return false;
    return rest.every((next, ahead) => isSameWord(words[at + 1 + ahead] ?? NO_WORD, next));
  });
}

const NO_WORD: WordForms = new Set();

function isSignificant(word: WordForms): boolean {
  const isLong = [...word].some((form) => form.length >= assumed.significantWordLength);
  return isLong && word.isDisjointFrom(assumed.insignificantWords);
}

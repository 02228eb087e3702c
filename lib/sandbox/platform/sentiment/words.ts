/** The forms of a word for comparison: itself in lower case and, if it may be a plural, its possible singulars. */
export type WordForms = ReadonlySet<string>;

/** The words of a text in order, each with its forms for comparison. */
export function wordsOf(text: string): WordForms[] {
  const segments = [...wordSegmenter.segment(text.normalize('NFKC').toLowerCase())];
  return segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => formsOf(segment));
}

/** Whether two words are the same apart from case and a simple plural. */
export function isSameWord(one: WordForms, other: WordForms): boolean {
  return !one.isDisjointFrom(other);
}

/** The sentences of a text, without blank ones. */
export function sentencesOf(text: string): string[] {
  return [...sentenceSegmenter.segment(text)].map(({ segment }) => segment.trim()).filter(Boolean);
}

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });
const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

const SHORTEST_PLURAL = 4;

function formsOf(word: string): WordForms {
  const bare = word.replace(/['’]s?$/, '');
  if (bare.length < SHORTEST_PLURAL || !bare.endsWith('s') || bare.endsWith('ss')) return new Set([bare]);
  return new Set([
    bare,
    bare.slice(0, -1),
    bare.replace(/ies$/, 'y'),
    bare.replace(/(s|x|z|ch|sh)es$/, '$1'),
  ]);
}

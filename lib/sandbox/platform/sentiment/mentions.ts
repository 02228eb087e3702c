import { assumed } from './assumed.ts';
import { isSameWord, type WordForms, wordsOf } from './words.ts';

/** A topic to look for: `topic` is its name, made of letters, digits and underscores. */
export type Topic = { readonly topic: string; readonly description?: string | undefined };

/** Whether a sentence, given as its words, mentions a topic. */
export type Mentions = (words: readonly WordForms[]) => boolean;

/** Looks for the topic's name, word by word, and for the significant words of its description. */
export function createMentions({ topic, description = '' }: Topic): Mentions {
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

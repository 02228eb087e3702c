import { assumed } from './assumed.ts';
import type { Topic } from './mentions.ts';

/** What a call would have cost with a model provider, in tokens; `totalTokens` is the sum of the others. */
export type ModelProviderUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
};

/** What a model would read: the texts of the input, the topics and the instructions. */
export type UsageRequest = {
  readonly texts: readonly string[];
  readonly topics?: readonly Topic[] | null | undefined;
  readonly instructions?: string | null | undefined;
};

/** Counts tokens by length alone (see `assumed`): equal requests cost the same. Reasoning tokens are always 0. */
export function countUsage({ texts, topics, instructions }: UsageRequest): ModelProviderUsage {
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

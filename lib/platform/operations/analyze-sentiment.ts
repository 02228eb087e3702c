import * as z from 'zod/mini';
import { anyRecord, filledText, uuid } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { type Sentiment, sentimentSchema } from '../records.ts';

export const topicName = z.string({ error: 'a topic name' }).check(
  z.regex(/^[A-Za-z][A-Za-z0-9_]{0,99}$/, {
    error: 'a topic name: a letter, then letters, digits or underscores, 1 to 100 in all',
  }),
);

const topic = z.strictObject({
  topic: topicName,
  description: z.optional(
    z.string({ error: 'text' }).check(z.maxLength(500, { error: 'at most 500 characters' })),
  ),
});

const free = z.optional(anyRecord());

const body = z.strictObject({
  input: z
    .array(z.looseObject({ type: filledText, text: z.optional(z.string()) }), { error: 'a list of messages' })
    .check(z.minLength(1, { error: 'at least one message' })),
  topics: z.optional(
    // The length is checked last: zod would otherwise check it before it looks at the topics, and leave out their
    // faults.
    z.array(topic, { error: 'a list of topics' }).check(
      z.refine((topics) => new Set(topics.map((each) => each.topic)).size === topics.length, {
        error: 'topics with different names',
      }),
      z.maxLength(50, { error: 'at most 50 topics' }),
    ),
  ),
  instructions: z.optional(z.string({ error: 'text' })),
  model: z.optional(filledText),
  modelConfiguration: free,
  sessionId: z.optional(uuid),
  reasoningConfig: free,
  targetedSentiment: z.optional(z.boolean()),
  simpleSentiment: z.optional(z.boolean()),
});
const input = z.strictObject({ body });

/** One text to score: by topic if topics are given (at most 50), otherwise overall. */
export type SentimentRequest = { readonly text: string } & Omit<
  z.input<typeof body>,
  'input' | 'targetedSentiment' | 'simpleSentiment'
>;

/** Analyzes the sentiment of a text (contract 4.6). A repeat does no harm but costs credits again. */
export const analyzeSentiment: Endpoint<z.infer<typeof input>, Sentiment> = {
  name: 'analyzeSentiment',
  summary: 'Targeted sentiment analysis',
  method: 'POST',
  path: '/api/ai/v1/targeted-sentiment',
  input,
  output: sentimentSchema,
  mayRepeat: true,
  isPrivate: true,
  about: () => 'sentiment of a text',
};

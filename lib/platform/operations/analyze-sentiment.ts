import * as z from 'zod/mini';
import { anyRecord, filledText, uuid } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { anyAnswer, type Sentiment, sentiment } from '../records.ts';

/** Schema of a topic's name. */
export const topicName = z.string({ error: 'a topic name' }).check(
  z.regex(/^[A-Za-z][A-Za-z0-9_]{0,99}$/, {
    error: 'a topic name: a letter, then letters, digits or underscores, 1 to 100 in total',
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
    // The length is checked last. After a fault of a first check, zod would not report the faults of the topics.
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

/** One text to score: by topic with `topics` (at most 50), otherwise overall. Each request costs credits. */
export type SentimentRequest = { readonly text: string } & Omit<
  z.input<typeof body>,
  'input' | 'targetedSentiment' | 'simpleSentiment'
>;

/** Schema of a response: the sentiment of each topic, null for a topic without one (the text was still paid for). */
const sentimentOf = (topics: readonly string[]): z.ZodMiniType<Sentiment, unknown> =>
  z.pipe(
    anyAnswer,
    z.transform((given): Sentiment => {
      const { topicSentiments: sent, ...rest }: Readonly<Record<string, unknown>> = given;
      const isNamed = anyRecord().safeParse(sent).success;
      const odd = isNamed || (sent ?? null) === null ? {} : { _topicSentiments: sent };
      if (topics.length === 0 && !isNamed) return { ...rest, ...odd } as Sentiment;
      return { ...rest, ...odd, topicSentiments: byTopic(isNamed ? Object(sent) : listed(sent), topics) };
    }),
  );

/** The sentiments in a list of `{topic, sentiment}`, by topic. The platform's other text analyses return such lists. */
function listed(sent: unknown): Readonly<Record<string, unknown>> {
  const found = z.array(z.looseObject({ topic: filledText, sentiment: z.unknown() })).safeParse(sent);
  return Object.fromEntries(found.data?.map(({ topic, sentiment }) => [topic, sentiment]) ?? []);
}

/**
 * Spells the topics of values as they were requested, if they differ only in letter case. Adds null for requested
 * topics without a value. All other values stay unchanged.
 */
function byTopic(named: Readonly<Record<string, unknown>>, topics: readonly string[]) {
  const values = new Map(Object.entries(named));
  const other = (topic: string) =>
    Object.keys(named).find(
      (name) => !topics.includes(name) && name.trim().toLowerCase() === topic.toLowerCase(),
    );
  for (const topic of topics) {
    if (values.has(topic)) continue;
    const name = other(topic);
    values.set(topic, name === undefined ? null : (values.get(name) ?? null));
    if (name !== undefined) values.delete(name);
  }
  return Object.fromEntries(values);
}

/** Analyzes the sentiment of a text. A repeat does no harm but costs credits again. */
export const analyzeSentiment: Endpoint<z.infer<typeof input>, Sentiment> = {
  name: 'analyzeSentiment',
  summary: 'Targeted sentiment analysis',
  method: 'POST',
  path: '/api/ai/v1/targeted-sentiment',
  input,
  output: ({ body: { topics = [] } }) => sentimentOf(topics.map(({ topic }) => topic)),
  records: { members: sentiment },
  isResult: (answer) =>
    [answer['sentiment'], answer['topicSentiments'], answer['modelProviderUsage']].some(
      (value) => value !== undefined,
    ),
  otherBody: 'empty',
  mayRepeat: true,
  isPrivate: true,
  about: () => 'sentiment of a text',
};

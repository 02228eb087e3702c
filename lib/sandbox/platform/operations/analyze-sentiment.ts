import { analyzeSentiment } from '../../../platform/operations/analyze-sentiment.ts';
import { assumptions } from '../assumptions.ts';
import { forms } from '../http/odd-answers.ts';
import { type Random, randomFor } from '../records/random.ts';
import { analyzeSentiment as analyze, countUsage } from '../sentiment/analyze.ts';
import { ok, operation, type RawInput, refused } from './operation.ts';

/** Contract 4.6: by topic if topics are given, otherwise for the text as a whole. Only TEXT messages are read. */
export const analyzeSentimentOperation = operation(
  analyzeSentiment,
  async ({ body }, { state, counter, number }) => {
    const texts = body.input.flatMap(({ type, text }) =>
      type.toUpperCase() === 'TEXT' && text !== undefined ? [text] : [],
    );
    if (texts.length === 0)
      return refused(400, 'input: expected at least one message of type TEXT with a text');
    const text = texts.join('\n');
    const analysis = await analyze({ text, topics: body.topics });
    counter.analyzedSentiment(text);
    const model = body.model ?? assumptions.sentimentModel;
    const isCustomerModel = model !== assumptions.sentimentModel;
    const ids = randomFor(state.seed, 'sentiment', number);
    const verdict =
      analysis.kind === 'targeted'
        ? { type: 'TARGETED', topicSentiments: analysis.topicSentiments }
        : { type: 'DEFAULT', sentiment: analysis.sentiment };
    return ok(
      JSON.stringify({
        ...verdict,
        model,
        isCustomerModel,
        sessionId: body.sessionId ?? ids.uuid(),
        requestId: ids.uuid(),
        modelProviderUsage: isCustomerModel
          ? null
          : countUsage({ texts, topics: body.topics, instructions: body.instructions }),
      }),
    );
  },
  {
    tolerate: withoutNullTopics,
    errors: { usual: 'PlatformError', forbidden: 'TextError' },
    oddity: { decides: { topicSentiments: oddTopics, sentiment: forms.lowered } },
  },
);

/** A topic that the text does not mention may have no value, or not be there. */
function oddTopics(value: unknown, random: Random) {
  const topics = Object.entries(value as Readonly<Record<string, string>>).map(([topic, sentiment]) => [
    topic,
    sentiment.toUpperCase() === 'NOT_APPLICABLE'
      ? random.pick([sentiment, null, undefined])
      : random.pick([sentiment, sentiment.toLowerCase()]),
  ]);
  return Object.fromEntries(topics);
}

function withoutNullTopics(raw: RawInput): RawInput {
  if (typeof raw.body !== 'object' || raw.body === null || Reflect.get(raw.body, 'topics') !== null)
    return raw;
  return { ...raw, body: Object.fromEntries(Object.entries(raw.body).filter(([name]) => name !== 'topics')) };
}

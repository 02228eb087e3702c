import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { analyzeSentiment } from '../../../../lib/sandbox/platform/sentiment/analyze.ts';
import { anyCodePoint } from '../../../any-text.ts';
import { cpuMs } from '../../../cpu-time.ts';

const review =
  'The delivery was quick and the driver was wonderful! I hate the prices, they are awful. ' +
  'The box was brown.\nCustomer service never answered, which was terrible.';

describe('sentiment with topics:', () => {
  test('each topic is scored by the sentences that mention it, and NOT_APPLICABLE if none does', async () => {
    const topics = ['delivery', 'price', 'box', 'customer_service', 'battery'];

    const analysis = await analyzeSentiment({ text: review, topics: topics.map((topic) => ({ topic })) });

    expect(analysis).toEqual({
      kind: 'targeted',
      topicSentiments: {
        delivery: 'POSITIVE',
        price: 'NEGATIVE',
        box: 'NEUTRAL',
        customer_service: 'NEGATIVE',
        battery: 'NOT_APPLICABLE',
      },
    });
  });

  test.each([
    ['in another case', 'DELIVERY', 'The delivery was great.'],
    ['in the plural', 'battery', 'The batteries are great.'],
    ['in the singular', 'boxes', 'The box is great.'],
    ['with an apostrophe', 'driver', "The driver's smile is great."],
    ['with a hyphen', 'after_sales', 'The after-sales team is great.'],
    ['at the end of the sentence', 'staff', 'How great is the staff?'],
  ])('a text mentions a topic whose name is %s', async (_, topic, text) => {
    const analysis = await analyzeSentiment({ text, topics: [{ topic }] });

    expect(analysis).toEqual({ kind: 'targeted', topicSentiments: { [topic]: 'POSITIVE' } });
  });

  test.each([
    ['a part of a longer word', 'art', 'The party was great.'],
    ['its words apart', 'customer_service', 'The service for a customer is great.'],
    ['its first word at the very end', 'customer_service', 'A great customer'],
    ['a word that only looks like its singular', 'glass', 'What a great gla this is.'],
  ])('a text does not mention a topic by %s', async (_, topic, text) => {
    const analysis = await analyzeSentiment({ text, topics: [{ topic }] });

    expect(analysis).toEqual({ kind: 'targeted', topicSentiments: { [topic]: 'NOT_APPLICABLE' } });
  });

  test('a significant word of the description also mentions the topic', async () => {
    const topics = [
      { topic: 'speed', description: 'How the user feels about waiting or delays' },
      { topic: 'packaging', description: 'What they think of it' },
    ];

    const analysis = await analyzeSentiment({ text: 'The delay was awful. They think it is nice.', topics });

    expect(analysis).toEqual({
      kind: 'targeted',
      topicSentiments: { speed: 'NEGATIVE', packaging: 'NOT_APPLICABLE' },
    });
  });

  test('praise and criticism of one topic cancel out', async () => {
    const text = 'The food was good. The food was poor.';

    const analysis = await analyzeSentiment({ text, topics: [{ topic: 'food' }] });

    expect(analysis).toEqual({ kind: 'targeted', topicSentiments: { food: 'NEUTRAL' } });
  });

  test('a topic may have the name of a property that every object has', async () => {
    const analysis = await analyzeSentiment({ text: 'It is fine.', topics: [{ topic: 'constructor' }] });

    expect(analysis).toEqual({ kind: 'targeted', topicSentiments: { constructor: 'NOT_APPLICABLE' } });
  });
});

describe('sentiment without topics:', () => {
  test.each([
    ['I love it. It works very well!', 'POSITIVE'],
    ['It broke at once. What a horrible waste.', 'NEGATIVE'],
    ['It came on Monday.', 'NEUTRAL'],
    ['It is not good.', 'NEGATIVE'],
    ['', 'NEUTRAL'],
    ['  \n ', 'NEUTRAL'],
  ])('the sentiment of %j is %s', async (text, sentiment) => {
    expect(await analyzeSentiment({ text })).toEqual({ kind: 'overall', sentiment });
  });

  test.each([[[]], [null], [undefined]])('%j counts as no topics', async (topics) => {
    expect(await analyzeSentiment({ text: 'Great!', topics })).toEqual({
      kind: 'overall',
      sentiment: 'POSITIVE',
    });
  });
});

test('a long word in capitals is scored quickly', async () => {
  const tookMs = await cpuMs(() => analyzeSentiment({ text: `Good ${'A'.repeat(3_000)}a` }));

  expect(tookMs).toBeLessThan(1_000);
});

test('any text and topics get a result, the same each time, with an entry for each topic', async () => {
  const topic = fc.stringMatching(/^[A-Za-z]\w{0,20}$/).filter((name) => name !== '__proto__');
  const topics = fc.uniqueArray(topic, { maxLength: 5, minLength: 1 });

  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCodePoint }), topics, async (text, names) => {
      const request = { text, topics: names.map((name) => ({ topic: name })) };

      const [first, second] = [await analyzeSentiment(request), await analyzeSentiment(request)];

      expect(second).toEqual(first);
      expect(first.kind === 'targeted' && Object.keys(first.topicSentiments)).toEqual(names);
    }),
  );
});

import { expect, test } from 'vitest';
import { countUsage } from '../../../../lib/sandbox/platform/sentiment/usage.ts';

test('a text without topics costs its length, the prompt and one result', () => {
  expect(countUsage({ texts: ['a'.repeat(40)] })).toEqual({
    inputTokens: 130,
    outputTokens: 12,
    totalTokens: 142,
    reasoningTokens: 0,
  });
});

test('topics, descriptions and instructions cost input, and each topic costs output', () => {
  const topics = [{ topic: 'price' }, { topic: 'delivery', description: 'How fast it came' }];

  const usage = countUsage({ texts: ['abcde', 'abcd'], topics, instructions: 'Be brief' });

  expect(usage).toEqual({ inputTokens: 149, outputTokens: 24, totalTokens: 173, reasoningTokens: 0 });
});

test('absent, null and empty topics cost the same', () => {
  const absent = countUsage({ texts: ['Good'] });

  expect(countUsage({ texts: ['Good'], topics: null, instructions: null })).toEqual(absent);
  expect(countUsage({ texts: ['Good'], topics: [] })).toEqual(absent);
});

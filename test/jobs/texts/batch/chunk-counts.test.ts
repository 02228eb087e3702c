import { describe, expect, test } from 'vitest';
import { CANCELLED } from '../../../../lib/jobs/ledger/job-row.ts';
import { addCosts, countRows, totalCosts } from '../../../../lib/jobs/texts/batch/chunk-counts.ts';
import type { ScoredRow } from '../../../../lib/jobs/texts/batch/chunk-objects.ts';
import type { TextResult } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import type { Sentiment } from '../../../../lib/platform/records.ts';
import { sentimentOf } from '../fakes.ts';

const resultOf = (differs: Partial<TextResult>): TextResult => ({
  id: '1',
  result: sentimentOf({ text: 'good' }),
  cached: false,
  calls: 1,
  paidAgain: 0,
  ...differs,
});

describe('the costs of texts', () => {
  test('are their calls, the calls that followed a lost one, and the paid tokens', () => {
    const results = [
      resultOf({}),
      resultOf({ calls: 3, paidAgain: 2 }),
      resultOf({ cached: true, calls: 0 }),
      { id: '4', error: 'no result', cached: false, calls: 2, paidAgain: 1 },
    ];

    expect(totalCosts(results)).toEqual({
      cached: 1,
      calls: 6,
      paidAgain: 3,
      tokens: { input: 8, output: 2, total: 10, reasoning: 0 },
    });
  });

  test.each([
    [{ inputTokens: 5, outputTokens: null, totalTokens: 2 }, [5, 0, 2, 0]],
    [{ inputTokens: 5, outputTokens: 4, totalTokens: 9, reasoningTokens: 3 }, [5, 4, 9, 3]],
  ])('include the tokens that %j reports, and nothing that is not a number', (modelProviderUsage, counts) => {
    const result: Sentiment = { ...sentimentOf({ text: 'good' }), modelProviderUsage };

    expect(Object.values(totalCosts([resultOf({ result })]).tokens)).toEqual(counts);
  });
});

describe('the rows of a part', () => {
  const tokens = { input: 4, output: 1, total: 5, reasoning: 0 };
  const rows: readonly ScoredRow[] = [
    { line: 1, textHash: 'a', sentiment: 'positive', cached: 0, calls: 2, paidAgain: 1, tokens },
    { line: 2, error: 'no text' },
    { line: 3, textHash: 'b', error: 'the platform responded with 400', calls: 1 },
    { line: 4, textHash: 'c', error: `${CANCELLED}, by a person` },
    { line: 5, erased: true, cached: 0, calls: 1, paidAgain: 0, tokens },
    { line: 6, textHash: 'd', sentiment: 'negative', cached: 1 },
  ];

  test('are scored, failed, cancelled, bad or erased, and have their costs', () => {
    expect(countRows(rows)).toEqual({
      rows: 6,
      scored: 2,
      failed: 2,
      cancelled: 1,
      bad: 1,
      erased: 1,
      cached: 1,
      calls: 4,
      paidAgain: 1,
      tokens: { input: 8, output: 2, total: 10, reasoning: 0 },
      sentiments: { overall: { positive: 1, negative: 1 }, topics: {} },
    });
  });

  test('count each sentiment by its topic', () => {
    const counted = countRows([
      { line: 1, topicSentiments: { Service: 'bad', Price: 'good' } },
      { line: 2, topicSentiments: { Price: 'good', Lone: 'a\uD800', '\uD800': 'b' } },
      { line: 3, topicSentiments: null },
      { line: 4, topicSentiments: 'none', sentiment: 5 },
    ]);

    expect(counted.sentiments).toEqual({
      overall: {},
      topics: { Service: { bad: 1 }, Price: { good: 2 }, Lone: { 'a\uFFFD': 1 }, '\uFFFD': { b: 1 } },
    });
  });
});

test('two tries of a row together cost the sum of their costs, and nothing if neither made a call', () => {
  const tokens = { input: 1, output: 2, total: 3, reasoning: 4 };

  expect(addCosts({ calls: 2, paidAgain: 1, tokens }, { calls: 1, cached: 0, tokens })).toEqual({
    cached: 0,
    calls: 3,
    paidAgain: 1,
    tokens: { input: 2, output: 4, total: 6, reasoning: 8 },
  });
  expect(addCosts({}, { calls: 0, cached: 0 })).toEqual({});
});

import { expect, test } from 'vitest';
import { countCalls } from '../lib/platform/events.ts';
import type { PlatformFailure } from '../lib/platform/failure.ts';
import { costWords, maxCostWords, moneyFor } from '../lib/prices.ts';

const prices = { unit: 'credits', score: 1.1, 'run-function': 0.1 };

test('calls with a configured price cost it, without rounding errors; calls without a price are free', () => {
  expect(moneyFor(prices, { score: 3, 'run-function': 3, 'data-files': 9 }, { score: 1 })).toEqual({
    unit: 'credits',
    amount: 3.6,
    possibly: 1.1,
  });
  expect(moneyFor(prices, { score: 0 })).toEqual({ unit: 'credits', amount: 0, possibly: 0 });
});

test('no cost is printed if no prices are configured, or none for these calls', () => {
  expect(moneyFor(undefined, { score: 3 })).toBeUndefined();
  expect(moneyFor(prices, { 'update-formula': 3 })).toBeUndefined();
  expect([...maxCostWords(undefined), ...costWords(undefined)]).toEqual([]);
});

test('the cost in words includes what was possibly paid', () => {
  expect(costWords({ unit: '€', amount: 1_234.5, possibly: 0 })).toEqual(['cost: 1,234.5 €']);
  expect(costWords({ unit: 'credits', amount: 12, possibly: 2 })).toEqual([
    'cost: 12 credits, 2 of them possibly: for calls whose outcome is unknown',
  ]);
});

test.each<[string, string, number | undefined, PlatformFailure | undefined, object]>([
  ['a response', 'analyzeSentiment', 200, undefined, { calls: { score: 1 }, unknown: {} }],
  [
    'a response of another shape',
    'runFunction',
    200,
    { kind: 'shape', faults: [] },
    { calls: { 'run-function': 1 }, unknown: {} },
  ],
  [
    'a login page',
    'runFunction',
    200,
    { kind: 'not-json', status: 200, contentType: 'text/html' },
    { calls: { 'run-function': 1 }, unknown: { 'run-function': 1 } },
  ],
  [
    'an error of the platform',
    'updateFormula',
    500,
    { kind: 'status', status: 500 },
    { calls: { 'update-formula': 1 }, unknown: { 'update-formula': 1 } },
  ],
  [
    'a connection that broke after the request had left',
    'analyzeSentiment',
    undefined,
    { kind: 'connection', phase: 'exchange', code: 'ECONNRESET' },
    { calls: { score: 1 }, unknown: { score: 1 } },
  ],
  [
    'a connection that was refused',
    'analyzeSentiment',
    undefined,
    { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' },
    { calls: {}, unknown: {} },
  ],
  ['a refusal', 'analyzeSentiment', 400, { kind: 'status', status: 400 }, { calls: {}, unknown: {} }],
  ['throttling', 'analyzeSentiment', 429, { kind: 'status', status: 429 }, { calls: {}, unknown: {} }],
  ['a search', 'searchCalculations', 200, undefined, { calls: {}, unknown: {} }],
])('the possible cost of %s is counted', (_, operation, status, failure, paid) => {
  const counted = countCalls();

  counted.observe({
    kind: 'request',
    operation,
    attempt: 1,
    status,
    durationMs: 1,
    sizeBytes: 1,
    ...(failure && { failure }),
  });

  expect(counted.paid).toEqual(paid);
});

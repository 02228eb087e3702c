import { expect, test } from 'vitest';
import { budgetOf, lowerUpdate, RESUME_UPDATE, toUpdateInput } from '../../lib/pace/budget-updates.ts';
import { budgetSuite } from './budget-suite.ts';
import { createBudgetByUpdates } from './updates-in-memory.ts';

budgetSuite('a budget that is changed by updates', createBudgetByUpdates);

test('an update without values and condition names neither', () => {
  expect(toUpdateInput(RESUME_UPDATE)).toStrictEqual({
    UpdateExpression: 'REMOVE #pausedAt',
    ExpressionAttributeNames: { '#pausedAt': 'pausedAt' },
  });
});

test.each([
  ['loweredRate', 'lowered'],
  ['loweredAt', 'lowered'],
] as const)('an item with %s alone has nothing %s', (attribute, member) => {
  expect(budgetOf({ [attribute]: { N: '5' } })[member]).toBeUndefined();
});

test('a 429 that sets every attribute removes none', () => {
  const lowered = {
    rate: 1,
    atMs: 2,
    fromRate: 3,
    refused: 4,
    refusedAtMs: 5,
    expectedMs: 6,
    probeMs: 7,
    succeededMs: 8,
  };

  expect(lowerUpdate({ incidents: 0, fromMs: 9, lowered }).update).not.toContain('REMOVE');
  expect(lowerUpdate({ incidents: 0, fromMs: 9, lowered: { rate: 1, atMs: 2 } }).update).toMatch(
    / REMOVE #loweredFrom, #refused, #refusedAt, #expected, #probeAt, #succeededAt$/,
  );
});

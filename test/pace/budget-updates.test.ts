import { expect, test } from 'vitest';
import { budgetOf, RESUME_UPDATE, toUpdateInput } from '../../lib/pace/budget-updates.ts';
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
  ['outsideRate', 'outside'],
  ['outsideUntil', 'outside'],
] as const)('an item with %s alone has nothing %s', (attribute, member) => {
  expect(budgetOf({ [attribute]: { N: '5' } })[member]).toBeUndefined();
});

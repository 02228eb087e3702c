import { expect, test } from 'vitest';
import { failedMessageIds } from './failed-message-ids.ts';

const ids = new Set(['a', 'b']);

test.for([undefined, null, {}, { batchItemFailures: null }, { batchItemFailures: [] }])(
  'the result %j fails nothing',
  (result) => {
    expect(failedMessageIds(result, ids)).toEqual(new Set());
  },
);

test('each message that is named fails, once', () => {
  const batchItemFailures = [{ itemIdentifier: 'b' }, { itemIdentifier: 'b' }];

  expect(failedMessageIds({ batchItemFailures }, ids)).toEqual(new Set(['b']));
});

test.for([
  'done',
  7,
  { batchItemFailures: 'a' },
  { batchItemFailures: ['a'] },
  { batchItemFailures: [null] },
  { batchItemFailures: [{ itemIdentifier: null }] },
  { batchItemFailures: [{ itemIdentifier: '' }] },
  { batchItemFailures: [{ itemIdentifier: 'c' }] },
  { batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: 'c' }] },
  { batchItemFailures: [{ messageId: 'a' }] },
])('the result %j fails everything', (result) => {
  expect(failedMessageIds(result, ids)).toEqual(ids);
});

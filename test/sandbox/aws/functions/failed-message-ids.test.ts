import { expect, test } from 'vitest';
import { failedMessageIds } from '../../../../lib/sandbox/aws/functions/failed-message-ids.ts';

const ids = new Set(['a', 'b']);

test.for([undefined, null, {}, { batchItemFailures: null }, { batchItemFailures: [] }])(
  'nothing fails by the answer %j',
  (answer) => {
    expect(failedMessageIds(answer, ids)).toEqual(new Set());
  },
);

test('what is named fails, once', () => {
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
])('everything fails by the answer %j', (answer) => {
  expect(failedMessageIds(answer, ids)).toEqual(ids);
});

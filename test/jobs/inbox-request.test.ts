import { expect, test } from 'vitest';
import { parseInboxRequest, refusedKeyOf } from '../../lib/jobs/split-inbox.ts';

const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value));

test('a request names its texts and what to score them for', () => {
  const body = bodyOf({
    object: 'uploads/reviews.csv',
    text: 'Review',
    columns: ['Shop'],
    topics: [{ topic: 'Price', description: 'what it costs' }],
    maxCalls: 500,
  });

  expect(parseInboxRequest('inbox/may-2026.json', body)).toEqual({
    batch: 'may-2026',
    object: 'uploads/reviews.csv',
    text: 'Review',
    id: undefined,
    columns: ['Shop'],
    maxCalls: 500,
    request: { topics: [{ topic: 'Price', description: 'what it costs' }] },
  });
});

test('reports every fault at once', () => {
  const body = bodyOf({
    object: '../secrets',
    columns: ['Shop', 'Shop'],
    topics: [{ topic: '1st' }],
    maxCalls: -1,
    limit: 5,
  });

  const parsed = parseInboxRequest('inbox/a b.json', body);

  expect(parsed).toEqual({
    faults: [
      'key: expected inbox/BATCH.json, with a batch name of 1 to 114 of A-Z a-z 0-9 . _ : -, got "inbox/a b.json"',
      'object: expected the key of an object in the store, got "../secrets"',
      'text: expected text, got nothing',
      'columns: expected each column only once, got a list of 2',
      'topics.0.topic: expected a topic name: a letter, then letters, digits or underscores, 1 to 100 in all, got "1st"',
      'maxCalls: expected a whole number from 0 to 9007199254740991, got -1',
      'limit: not a known name',
    ],
  });
});

test.each(['', 'not json', '[]', 'null', '"text"'])('refuses the body %j', (text) => {
  expect(parseInboxRequest('inbox/b.json', Buffer.from(text))).toMatchObject({
    faults: [expect.stringMatching(/^the request: .*expected/)],
  });
});

test('a request under a key that is no batch name is refused, even if all else is valid', () => {
  const body = bodyOf({ object: 'uploads/reviews.csv', text: 'Review', topics: [{ topic: 'Price' }] });

  expect(parseInboxRequest('inbox/a b.json', body)).toEqual({
    faults: [expect.stringContaining('got "inbox/a b.json"')],
  });
});

test.each([
  ['old/inbox/a.json.txt', 'refused/inbox-old_inbox_a.json.txt.json'],
  [`inbox/${'a'.repeat(200)}.json`, `refused/inbox-${'a'.repeat(114)}.json`],
])('the reasons to refuse %s are stored as %s', (key, refusedKey) => {
  expect(refusedKeyOf(key)).toBe(refusedKey);
});

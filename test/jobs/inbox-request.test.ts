import pino from 'pino';
import { expect, test } from 'vitest';
import { parseInboxRequest, splitInbox } from '../../lib/jobs/split-inbox.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import type { Store } from '../../lib/store/store.ts';
import { fakeWorker } from './fake-worker.ts';
import { memoryQueue } from './memory-queue.ts';

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

test('all faults of a request are reported together', () => {
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
      'key: expected inbox/BATCH.json, with a batch name of 1 to 114 characters from A-Z a-z 0-9 . _ : -, got "inbox/a b.json"',
      'object: expected the key of an object in the store, got "../secrets"',
      'text: expected text, got nothing',
      'columns: expected each column only once, got a list of 2',
      'topics.0.topic: expected a topic name: a letter, then letters, digits or underscores, 1 to 100 in total, got "1st"',
      'maxCalls: expected a whole number from 0 to 9007199254740991, got -1',
      'limit: not a known name',
    ],
  });
});

test.each(['', 'not json', '[]', 'null', '"text"'])('a request with the body %j is refused', (text) => {
  expect(parseInboxRequest('inbox/b.json', Buffer.from(text))).toMatchObject({
    faults: [expect.stringMatching(/^the request: .*expected/)],
  });
});

test('a request is refused if its key contains no valid batch name, even if all else is valid', () => {
  const body = bodyOf({ object: 'uploads/reviews.csv', text: 'Review', topics: [{ topic: 'Price' }] });

  expect(parseInboxRequest('inbox/a b.json', body)).toEqual({
    faults: [expect.stringContaining('got "inbox/a b.json"')],
  });
});

test.each([
  ['old/inbox/a.json.txt', 'refused/inbox-old_inbox_a.json.txt.json'],
  [`inbox/${'a'.repeat(200)}.json`, `refused/inbox-${'a'.repeat(114)}.json`],
])('the reasons to refuse %s are stored as %s', async (key, refused) => {
  const { outcome } = await split({}, {}, key);

  expect(outcome).toEqual({ kind: 'refused', refused });
});

async function split(
  objects: Readonly<Record<string, string>>,
  fault: Partial<Store> = {},
  key = 'inbox/b1.json',
) {
  const fake = fakeWorker({});
  const { ledger, store, batches } = fake;
  const { table } = batches;
  for (const [at, text] of Object.entries(objects)) await store.put(at, Buffer.from(text));
  const cache = createScoreCache({ ...batches, host: 'h', owner: 'w', attemptMs: 60_000 });
  const checkTable = async () => undefined;
  const storage = { store: { ...store, ...fault }, table, ledger, cache, batches, host: 'h', checkTable };
  const queue = memoryQueue();
  const parts = { storage, queue, rate: 1, logger: pino({ level: 'silent' }) };
  const outcome = await splitInbox(key, parts);
  return { outcome, sent: queue.bodies(), refusal: await fake.stored('refused/inbox-b1.json') };
}

const REQUEST = '{"object":"texts","text":"review"}';

test('the rows of the object that a request names become jobs', async () => {
  const { outcome, sent } = await split({
    'inbox/b1.json': REQUEST,
    texts: 'review\ngood\n',
    'texts.csv': '',
  });

  expect(outcome).toEqual({ kind: 'split', batch: 'b1', chunks: 1, rows: 1 });
  expect(sent.map((body) => JSON.parse(body).texts)).toEqual([[{ id: '2', text: 'good' }]]);
});

test('a file whose lines may be parts of texts is read line by line if the request says so', async () => {
  const { outcome } = await split({
    'inbox/b1.json': '{"object":"texts","text":"review","wholeRows":true}',
    texts: 'review,id\nfirst half\nsecond half,1\n',
  });

  expect(outcome).toMatchObject({ kind: 'split', rows: 2 });
});

test.each([
  ['that no longer exists', {}, 'inbox/b1.json: the request was deleted before it was read'],
  ['for an object in an empty folder', { 'inbox/b1.json': REQUEST }, 'does not exist'],
  ['for an object that is missing', { 'inbox/b1.json': REQUEST, 'texts.csv': 'review\n' }, 'does not exist'],
  ['for another column', { 'inbox/b1.json': REQUEST, texts: 'id\n1\n' }, 'columns: expected "review"'],
  [
    'that needs more calls than it allows',
    { 'inbox/b1.json': '{"object":"texts","text":"review","maxCalls":0}', texts: 'review\ngood\n' },
    'over the limit of 0',
  ],
  [
    'for a file with texts that are split across lines',
    { 'inbox/b1.json': REQUEST, texts: 'id,review\n1,first half\nsecond half\n' },
    'texts: line 2: rows: expected quotes around a text with line breaks',
  ],
  ['with a fault', { 'inbox/b1.json': '{}' }, 'text: expected text, got nothing'],
  [
    'that is larger than a message may be',
    { 'inbox/b1.json': ' '.repeat(262_145) },
    'expected at most 262144 bytes',
  ],
])('a request %s is refused, with the reason', async (_, objects, fault) => {
  const { outcome, sent, refusal } = await split(objects);

  expect(outcome).toEqual({ kind: 'refused', refused: 'refused/inbox-b1.json' });
  expect(refusal).toMatchObject({ faults: expect.arrayContaining([expect.stringContaining(fault)]) });
  expect(sent).toEqual([]);
});

test.each<[string, Partial<Store>, string]>([
  ['it is read', { get: () => Promise.reject(new Error('unavailable')) }, 'unavailable'],
  ['its texts are read', { stream: () => Promise.reject(new Error('unavailable')) }, 'unavailable'],
  [
    'its texts are deleted',
    { stream: async () => undefined },
    'texts in memory was deleted while the request',
  ],
])('a request is not refused if the store fails while %s', async (_, fault, error) => {
  const objects = { 'inbox/b1.json': REQUEST, texts: 'review\ngood\n' };

  await expect(split(objects, fault)).rejects.toThrow(error);
});

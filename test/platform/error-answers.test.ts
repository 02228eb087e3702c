import { expect, test } from 'vitest';
import { pageIn } from '../../lib/snapshot/sources/calculations/pages.ts';
import { caught } from './caught.ts';
import { clientAt } from './client-at.ts';
import { calculationRow, calculations } from './sample-records.ts';
import { bytes, json, startServer } from './scripted-server.ts';

const DATASET = 'cd27b9a0-a9d4-446b-9b16-02103df7f112';
const ERRORS = [
  { status: 404, statusReason: 'Not Found', message: 'busy', toe: 'D2RFR14QKK-0FWIV' },
  { errorCode: 'BUSY_1', errorMessage: 'busy' },
  { error: 'busy' },
  { message: 'busy', code: 503 },
];
const retry = { maxMisdirectedRetries: 2, baseDelayMs: 1 };
const sort = { field: 'id', ascending: true };

test.for(ERRORS)('the body %j with status 200 is an error in each operation', async (error) => {
  await using server = await startServer(json(error));
  const { calculations, files, cards, dataFiles, functions, sentiment } = clientAt(server.url, { retry });
  const run = { packageId: DATASET, version: '1.0.0', functionName: 'add' };

  const read = [
    await caught(calculations.search({ sort })),
    await caught(files.pages(DATASET).next()),
    await caught(cards.ofDataset(DATASET)),
    await caught(dataFiles.get('12')),
  ];
  const sent = [await caught(functions.run(run)), await caught(calculations.updateFormula('7', 'SUM(1)'))];
  const paid = await caught(sentiment.analyze({ text: 'fine' }));

  for (const { failure } of [...read, ...sent])
    expect(failure).toMatchObject({ kind: 'status', detail: 'busy' });
  expect(read.map(({ attempts }) => attempts)).toEqual([3, 3, 3, 3]);
  expect(sent.map(({ attempts, sent: left }) => [attempts, left])).toEqual([
    [1, true],
    [1, true],
  ]);
  expect(paid).toMatchObject({ failure: { kind: 'shape' }, attempts: 1 });
  expect(paid.message).toContain('an error: (not shown)');
});

test('a complete result is no error, even if it also has the members of an error', async () => {
  const more = { message: 'ok', status: 'VALID', error: false, errors: [] };
  await using server = await startServer(
    json({ ...calculations(calculationRow()), ...more }),
    json({ dataFileId: 12, ...more }),
    json({ status: 'SUCCESS', message: 'ok', code: 500 }),
    json({ id: 7, ...more }),
    json({ sentiment: 'positive', ...more }),
  );
  const platform = clientAt(server.url);

  await platform.calculations.search({ sort });
  await platform.dataFiles.get('12');
  await platform.functions.run({ packageId: DATASET, version: '1.0.0', functionName: 'add' });
  await platform.calculations.updateFormula('7', 'SUM(1)');
  await platform.sentiment.analyze({ text: 'fine' });

  expect(server.requests).toHaveLength(5);
});

test.for(['{"sentiment":"positive",}', '{"sentiment":"pos', 'fine'])(
  'a text is scored and paid for only once, even if its complete response is %s',
  async (body) => {
    await using server = await startServer(bytes(body, { 'content-type': 'application/json' }));

    const { failure } = await caught(clientAt(server.url, { retry }).sentiment.analyze({ text: 'fine' }));

    expect(failure).toMatchObject({ kind: 'shape', faults: [expect.stringContaining('invalid JSON')] });
    expect(server.requests).toHaveLength(1);
  },
);

test.each([
  ['{"data":{"results":[{"id":1}]}}', false],
  ['{"content":[{"id":1}],"hasMore":false}', false],
  ['{"error":"busy"}', false],
  ['{"hasMore":false,"facets":{"a":null},"tags":[]}', true],
  ['{"totalHits":0,"facets":{"a":1}}', true],
])('the page %s, which has no list of rows, counts as empty: %s', (text, isEmpty) => {
  const read = () => pageIn(Buffer.from(text), 'id').keys;

  if (isEmpty) expect(read()).toEqual([]);
  else expect(read).toThrow('results: expected an array');
});

test('sentiments by topic are read by name if they are in a list', async () => {
  await using server = await startServer(
    json({
      topicSentiments: [
        { topic: 'Price', sentiment: 'negative' },
        { topic: 'delivery', sentiment: null },
      ],
    }),
  );
  const topics = [{ topic: 'price' }, { topic: 'delivery' }];

  const { topicSentiments } = await clientAt(server.url).sentiment.analyze({ text: 'fine', topics });

  expect(topicSentiments).toEqual({ price: 'negative', delivery: null });
});

test('a response with status 204 is refused for a data file after one call, because it is not an object', async () => {
  await using server = await startServer(bytes('', {}, 204));

  const { failure, attempts } = await caught(clientAt(server.url).dataFiles.get('12'));

  expect(failure).toMatchObject({ kind: 'shape' });
  expect(attempts).toBe(1);
});

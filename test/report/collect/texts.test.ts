import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { printPart, readScores } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { readBatches } from '../../../lib/report/collect/batches.ts';
import { readFormulas } from '../../../lib/report/collect/jobs.ts';
import { summaryOf } from '../../jobs/summary-of.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';

function reading(store: MemoryStore) {
  const faults: string[] = [];
  const addFault = (fault: string) => void faults.push(fault);
  return {
    options: { store, addFault, signal: new AbortController().signal, ends: new Map([['may', 7]]) },
    faults,
  };
}

const SUMMARY = {
  ...summaryOf('may', [
    { key: 'scores/may/part-00000-a.ndjson.gz', rows: 1 },
    { key: 'scores/may/part-00001-b.ndjson.gz', rows: 3 },
  ]),
  ...{ rows: 4, scored: 2, failed: 1, bad: 1, cached: 1 },
  tokens: { input: 0, output: 0, total: 12, reasoning: 0 },
  sentiments: { overall: {}, topics: { delivery: { negative: 2, odd: 1 }, support: { not_applicable: 2 } } },
};

const ROWS = [
  {
    id: 'u1',
    line: 2,
    columns: { on: '2026-11-01', note: '2026' },
    topicSentiments: { delivery: 'negative', support: 'negative' },
  },
  {
    line: 3,
    columns: { on: '02.11.2026', note: 'x' },
    topicSentiments: { delivery: 'negative', support: 7 },
  },
  { id: 'u3', line: 4, columns: { on: '2026-11-02T08:00:00+02:00' }, textHash: 'h', error: 'too long' },
  { line: 5, columns: { on: '3.11.2026' }, error: 'no text' },
];

async function scored(parts: readonly (readonly unknown[])[], summary: unknown = SUMMARY) {
  const store = createMemoryStore();
  await store.put('scores/may/_summary.json', Buffer.from(JSON.stringify(summary)));
  for (const [at, rows] of parts.entries())
    await store.put(
      `scores/may/part-0000${at}-${'ab'[at]}.ndjson.gz`,
      gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
    );
  return store;
}

test('a batch has its sentiment by topic and by day, the ids of its most negative texts, and its failures', async () => {
  const { options, faults } = reading(await scored([ROWS.slice(0, 1), ROWS.slice(1)]));

  const [batch] = await readBatches(options);

  expect(faults).toEqual([]);
  expect(batch).toMatchObject({
    batch: 'may',
    finishedAt: 7,
    rows: 4,
    scored: 2,
    failed: 1,
    bad: 1,
    cached: 1,
    tokens: { total: 12 },
  });
  expect(batch?.topics).toMatchObject([
    { topic: 'delivery', sentiments: { negative: 2, other: 1 } },
    { topic: 'support', sentiments: { not_applicable: 2, positive: 0 } },
  ]);
  expect(batch?.overTime).toMatchObject({
    column: 'on',
    days: [
      { day: '2026-11-01', sentiments: { negative: 2 } },
      { day: '2026-11-02', sentiments: { negative: 1 } },
      { day: '2026-11-03', sentiments: { negative: 0 } },
    ],
  });
  expect(batch?.mostNegative).toEqual([
    { id: 'u1', topics: ['delivery', 'support'] },
    { id: 'line 3', topics: ['delivery'] },
  ]);
  expect(batch?.failures).toEqual([{ id: 'u3', reason: 'too long' }]);
  expect(batch?.isCut).toBe(false);
});

test('the first thousand parts of a large batch are read, and the report says so', async () => {
  const [part] = SUMMARY.parts;
  const parts = Array.from({ length: 1_001 }, () => part);
  const { options } = reading(await scored([ROWS.slice(0, 1)], { ...SUMMARY, parts }));

  const [batch] = await readBatches(options);

  expect(batch?.isCut).toBe(true);
  expect(batch?.overTime?.days[0]?.sentiments.negative).toBe(2_000);
});

test('a batch without topics has one entry without a topic, and a missing part is named', async () => {
  const sentiments = { overall: { positive: 3 }, topics: {} };
  const { options, faults } = reading(
    await scored([[{ id: 'u1', sentiment: 'negative' }]], { ...SUMMARY, sentiments }),
  );

  const [batch] = await readBatches(options);

  expect(batch?.topics).toMatchObject([{ topic: '', sentiments: { positive: 3 } }]);
  expect(batch?.mostNegative).toEqual([{ id: 'u1', topics: [''] }]);
  expect(faults).toEqual([
    'batch may: scores/may/part-00001-b.ndjson.gz: expected a part, got nothing; 1 of its parts are not in the report',
  ]);
});

test.each(['{', 'null', '7'])('an invalid summary (%s) is named, and hides no other batch', async (body) => {
  const store = await scored([[], []]);
  await store.put('scores/bad/_summary.json', Buffer.from(body));
  await store.put('scores/open/part-00000-a.ndjson.gz', Buffer.from('x'));
  const { options, faults } = reading(store);

  expect((await readBatches(options)).map(({ batch }) => batch)).toEqual(['may']);
  expect(faults).toEqual([
    expect.stringMatching(/^batch bad: scores\/bad\/_summary.json is not what platform-sync writes there/),
  ]);
});

test.each([
  ['2026-11-22', '2026-11-22'],
  ['2026-11-22 23:30:00-05', '2026-11-22'],
  ['2026/02/03 10:00', '2026-02-03'],
  ['3.2.2026', '2026-02-03'],
  ['1795389393495', '2026-11-22'],
  ['11/12/2026', undefined],
  ['2026-02-30x', undefined],
  ['4915112345678', undefined],
  ['20261122', undefined],
])('the value %s in a column of days is read as %s', async (cell, day) => {
  const store = createMemoryStore();
  const { key, body } = printPart({ batch: 'may', chunk: 0 }, [{ line: 2, columns: { sent: cell } }]);
  await store.put(key, body);

  const [row] = await readScores(store, key);

  expect(row?.date?.day).toBe(day);
});

test('the latest formulas are listed, each with the previous formula of the same calculation', async () => {
  const store = createMemoryStore();
  const put = (key: string, value: unknown) =>
    store.put(`formulas/${key}.json`, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
  await put('1/20261101T000000000Z', { id: 1, name: 'Revenue', expression: 'SUM(`a`)' });
  await put('1/20261103T000000001Z', { id: 1, name: 'Revenue', expression: 'SUM(`b`)' });
  await put('12/20261102T000000000Z', { id: 12, name: null, expression: 'x'.repeat(30_000) });
  await put('12/20261104T000000000Z', '{');
  await put('12/elsewhere', {});
  const { options, faults } = reading(store);

  const all = await readFormulas(options);
  const two = await readFormulas({ ...options, most: 2 });

  expect(
    all.map(({ calculationId, at, before }) => [calculationId, new Date(at).toISOString(), before]),
  ).toEqual([
    ['1', '2026-11-03T00:00:00.001Z', 'SUM(`a`)'],
    ['12', '2026-11-02T00:00:00.000Z', null],
    ['1', '2026-11-01T00:00:00.000Z', null],
  ]);
  expect(all[1]).toMatchObject({ name: '', after: `${'x'.repeat(19_999)}…` });
  expect(two.map(({ before, after }) => [before, after])).toEqual([['SUM(`a`)', 'SUM(`b`)']]);
  expect(faults[0]).toBe(
    'formulas/12/20261104T000000000Z.json: expected a calculation with its formula, got something else; 1 such objects are left out',
  );
});

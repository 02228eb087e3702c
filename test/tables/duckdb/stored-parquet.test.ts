import { beforeEach, expect, test } from 'vitest';
import { printPart } from '../../../lib/jobs/texts/batch/part.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { makeDay } from '../../../lib/tables/make/make-results.ts';
import { makeBatch } from '../../../lib/tables/make/make-scores.ts';
import { summaryOf } from '../../jobs/summary-of.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';

const DAY = { type: 'run-function', day: '2026-11-21' };
const making = { isOver: () => false, isDry: false };

/** What platform and users may send: `jobs` has a text as it is, any other JSON byte for byte, and `?` for half a pair. */
const RESPONSES = [
  '{"n":12345678901234567890,"x":1.50}',
  '"text"',
  '"quoted \\"text\\"\\n"',
  '"half a pair \\ud800"',
  '[1,{"a":"\\udc00"}]',
  'null',
  'true',
  '"\\u0000"',
  '"ünï 😀"',
  '""',
];

const keyOf = (at: number) => `results/run-function/dt=2026-11-21/job-${at}.json`;
const resultOf = (at: number, response: string) =>
  Buffer.from(
    `{"version":1,"id":"job-${at}","type":"run-function","status":"done","attempts":${at},"startedAt":"a","finishedAt":"b","sender":null,"response":${response}}\n`,
  );

let store: MemoryStore;

beforeEach(async () => {
  store = createMemoryStore();
  for (const [at, response] of RESPONSES.entries()) await store.put(keyOf(at), resultOf(at, response));
  const about = (line: number) => ({ id: `Row ${line}`, line, columns: { Channel: 'ünï' }, textHash: 'h' });
  const parts = RESPONSES.slice(0, 9).map((_, chunk) =>
    printPart({ batch: 'b1', chunk }, [
      { ...about(chunk), topicSentiments: chunk % 2 === 0 ? { price: 'NEGATIVE' } : 'odd', sentiment: 'x' },
      { line: chunk, error: 'no text' },
    ]),
  );
  for (const { key, body } of parts) await store.put(key, body);
  const summary = summaryOf(
    'b1',
    parts.map(({ key }) => ({ key, rows: 2 })),
  );
  await store.put('scores/b1/_summary.json', printStored(summary));
});

/** All rows of jobs and scores, and the keys of which bytes were read for them. */
async function read(from: Store = store) {
  const keys = new Set<string>();
  const watched: Store = {
    ...from,
    get(key, options) {
      keys.add(key);
      return from.get(key, options);
    },
    stream(key, options) {
      keys.add(key);
      return from.stream(key, options);
    },
  };
  await using tables = await openTables(watched);
  const run = (sql: string) => tables.run(sql, { maxRows: 1_000 });
  const jobs = await run('SELECT response, * EXCLUDE (response) FROM jobs ORDER BY id');
  const scores = await run('SELECT * FROM scores ORDER BY chunk, id');
  return {
    rows: [jobs.first, scores.first],
    faults: [...jobs.faults, ...scores.faults],
    notes: [...jobs.notes, ...scores.notes],
    objects: [...keys].filter((key) => /^results\/|^scores\/.*part-/.test(key)).sort(),
  };
}

async function make() {
  await makeDay(DAY, { store, ...making, resultsDays: 90, now: Date.now });
  await makeBatch('b1', { store, ...making });
}

test('jobs and scores have the same rows from Parquet, and none of its objects is read', async () => {
  const before = await read();
  await make();
  const after = await read();

  expect(before.objects).toHaveLength(RESPONSES.length + 9);
  expect(after).toEqual({ ...before, objects: [] });
  expect(after.faults).toEqual([]);
  expect(after.rows[0]?.map((row) => row[0])).toEqual([
    '{"n":12345678901234567890,"x":1.50}',
    'text',
    'quoted "text"\n',
    'half a pair ?',
    '[1,{"a":"?"}]',
    null,
    'true',
    '\u0000',
    'ünï 😀',
    '',
  ]);
});

test('what has changed since is read as it is now', async () => {
  await make();
  await store.put(keyOf(1), resultOf(1, '"later"'));
  const more = printPart({ batch: 'b1', chunk: 9 }, [{ line: 9, error: 'scored again' }]);
  await store.put(more.key, more.body);

  const { rows, objects } = await read();

  expect(rows[0]?.[1]).toContain('later');
  expect(rows[1]).toHaveLength(19);
  expect(objects).toHaveLength(RESPONSES.length + 10);
});

test('Parquet that is damaged or gone is noted, and the rows are read from what it was made of', async () => {
  await make();
  const { rows } = await read();
  const results = 'parquet/results/type=run-function/dt=2026-11-21/part-00000.parquet';
  const sizeBytes = store.objects.get(results)?.byteLength ?? 0;
  store.objects.set(results, Buffer.alloc(sizeBytes));

  const damaged = await read({
    ...store,
    stream: async (key, given) => (key.startsWith('parquet/scores/') ? undefined : store.stream(key, given)),
  });

  expect(damaged.rows).toEqual(rows);
  expect(damaged.notes).toEqual([
    expect.stringContaining(`${results}: expected the sha256`),
    expect.stringContaining('parquet/scores/b1/part-00000.parquet'),
  ]);
});

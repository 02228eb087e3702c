import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { printChange } from '../../../lib/snapshot/changes/change.ts';
import { changesKey } from '../../../lib/snapshot/keys.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { monday, publishLines, tuesday, wednesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishTwoRuns, rowsOf } from './published.ts';

const CHANGES = changesKey('files.reports', wednesday, monday.id, '0');
const store = createMemoryStore();
const put = (key: string, value: unknown) => store.put(key, Buffer.from(`${JSON.stringify(value)}\n`));

await publishTwoRuns(store);
await publishLines(store, {
  place: 'files.reports',
  run: wednesday,
  lines: ['{"id":"f1","name":"x"}'],
  manifest: {
    changes: { against: monday.id, added: 1, removed: 0, changed: 2, key: CHANGES },
    forced: true,
    refused: ['type'],
  },
});
const change = {
  change: 'changed',
  key: '1036',
  before: '{"id":1036,"n":1.50}',
  after: '{"id":1036,"n":1e400}',
  fields: ['n'],
} as const;
const half = { change: 'added', key: '8', after: '{"id":8,"name":"half \\ud83d"}' } as const;
await store.put(CHANGES, gzipSync(`${printChange(change)}\n${printChange(half)}\n`));
await store.put(
  changesKey('files.reports', wednesday, tuesday.id, '0'),
  gzipSync(`${printChange({ change: 'added', key: '7', after: '{"id":7}' })}\n`),
);
await put('results/score/dt=2026-11-20/!-b.json', {
  version: 1,
  id: ':b',
  type: 'score',
  status: 'failed',
  attempts: 2,
  startedAt: '2026-11-20T01:00:00.000Z',
  finishedAt: '2026-11-20T01:00:01.000Z',
  sender: null,
  error: { kind: 'timeout', message: 'half \ud83d' },
});
await store.put(
  'results/data-files/dt=2026-11-21/a.json',
  Buffer.from(
    '{"version":1,"id":"a","type":"data-files","status":"done","attempts":1,"startedAt":"2026-11-21T01:00:00.000Z","finishedAt":"2026-11-21T01:00:01.000Z","sender":"s","response":{"id":12345678901234567890,"n":1.50}}\n',
  ),
);
await put('refused/m1.json', {
  version: 1,
  messageId: 'm1',
  sender: null,
  sentAt: null,
  faults: ['a', 'half \ud83d'],
  body: '{',
});
const part = gzipSync(
  '{"batch":"may","chunk":3,"id":"7","line":2,"columns":{"channel":"mail"},"textHash":"h","topicSentiments":{"price":"NEGATIVE"},"sentiment":"NEUTRAL"}\n{"batch":"may","chunk":3,"line":3,"error":"empty"}\n',
);
await store.put(`scores/may/part-00003-${hash('sha256', part).slice(0, 12)}.ndjson.gz`, part);
const tables = await openTables(store);

afterAll(() => tables[Symbol.asyncDispose]());

test('a table has the rows of the latest run, with ids as strings, and the day and id of the run', async () => {
  expect(await rowsOf(tables, 'SELECT id, name, dt, run FROM calculations')).toEqual([
    ['123456789012345678901234567890', 'Cost', '2026-11-17', tuesday.id],
  ]);
});

test('a table whose name begins with all_ has the rows of every published run', async () => {
  const rows = await rowsOf(
    tables,
    'SELECT run, id, locked, lastmodified, lastmodified_at FROM all_calculations ORDER BY run, id',
  );

  expect(rows).toEqual([
    [monday.id, '1036', true, 1_700_000_000_123, '2023-11-14T22:13:20.123Z'],
    [monday.id, '123456789012345678901234567890', null, null, null],
    [tuesday.id, '123456789012345678901234567890', null, null, null],
  ]);
});

test('a narrowed snapshot has its own tables', async () => {
  expect(await rowsOf(tables, 'SELECT id, run FROM files_reports')).toEqual([['f1', wednesday.id]]);
  expect(await rowsOf(tables, 'SELECT id FROM all_files_reports')).toHaveLength(1);
});

test('a table of an unpublished source is empty, with its columns', async () => {
  const { columns, first } = await tables.run('SELECT * FROM all_cards', { maxRows: 1 });

  expect(first).toEqual([]);
  expect(columns).toContainEqual({ name: 'datasourceid', type: 'VARCHAR' });
  expect(columns.slice(-2).map(({ name }) => name)).toEqual(['dt', 'run']);
});

test('the table `runs` has the facts of each manifest', async () => {
  const rows = await rowsOf(
    tables,
    'SELECT place, run, latest, records, changed, parts, forced, refused, startedat FROM runs ORDER BY run',
  );

  expect(rows).toEqual([
    ['calculations', monday.id, false, 2, null, 1, false, [], '2026-11-16T09:00:00.000Z'],
    ['calculations', tuesday.id, true, 1, null, 1, false, [], '2026-11-17T09:00:00.000Z'],
    ['files.reports', wednesday.id, true, 1, 2, 1, true, ['type'], '2026-11-18T09:00:00.000Z'],
  ]);
});

test('the table of changes has all changes that manifests name, with the records byte for byte', async () => {
  expect(
    await rowsOf(
      tables,
      "SELECT change, key, before, after, fields, place, dt, run FROM changes WHERE change = 'changed'",
    ),
  ).toEqual([
    [
      'changed',
      '1036',
      '{"id":1036,"n":1.50}',
      '{"id":1036,"n":1e400}',
      ['n'],
      'files.reports',
      '2026-11-18',
      wednesday.id,
    ],
  ]);
});

test('jobs have their outcome, with responses as they were received', async () => {
  expect(
    await rowsOf(
      tables,
      'SELECT id, status, attempts, sender, error, response, type, dt FROM jobs ORDER BY id',
    ),
  ).toEqual([
    [':b', 'failed', 2, null, '{"kind":"timeout","message":"half ?"}', null, 'score', '2026-11-20'],
    ['a', 'done', 1, 's', null, '{"id":12345678901234567890,"n":1.50}', 'data-files', '2026-11-21'],
  ]);
});

test('a lone surrogate becomes ?, as in Athena, and JSON that contains a lone surrogate can be queried', async () => {
  expect(await rowsOf(tables, "SELECT error_kind, error_message FROM jobs WHERE id = ':b'")).toEqual([
    ['timeout', 'half ?'],
  ]);
  expect(await rowsOf(tables, "SELECT name, after FROM changes WHERE key = '8'")).toEqual([
    ['half ?', '{"id":8,"name":"half ?"}'],
  ]);
});

test('refused messages have a table, and so have scores', async () => {
  expect(await rowsOf(tables, 'SELECT message_id, sender, sent_at, faults, body FROM refused')).toEqual([
    ['m1', null, null, ['a', 'half ?'], '{'],
  ]);
  expect(
    await rowsOf(
      tables,
      'SELECT batch, chunk, line, id, columns, topicsentiments, sentiment, error FROM scores ORDER BY line',
    ),
  ).toEqual([
    ['may', 3, 2, '7', { channel: 'mail' }, '{"price":"NEGATIVE"}', 'neutral', null],
    ['may', 3, 3, null, null, null, null, 'empty'],
  ]);
});

test.each([
  'calculation_id, name, owner_id, status, created_at, modified_at, archived, locked FROM calculations',
  'broken_links, invalid, missing_target, affected, unused FROM calculations',
  'card_id, title, type, owner_id, owner_name, dataset_id FROM cards',
  'dataset_id, cards, calculations, broken_links FROM datasets',
  'fileset_id, file_id, path, size_bytes, created_at FROM files',
  'user_kind, user_id, used_kind, used_id, relation, validity, stated_by FROM links',
  'user_id, name FROM users',
  'topic FROM score_topics',
  'error_kind, batch FROM jobs',
])('columns have the names that people guess: %s', async (columns) => {
  expect(await tables.run(`SELECT ${columns}`, { maxRows: 1 })).toMatchObject({ faults: [] });
});

test('the list of tables has no internal tables', async () => {
  const rows = await rowsOf(tables, 'SHOW TABLES');

  expect(rows.flat()).toEqual([
    'all_calculations',
    'all_cards',
    'all_data_files',
    'all_files',
    'all_files_reports',
    'batches',
    'calculations',
    'card_datasets',
    'cards',
    'changes',
    'data_files',
    'datasets',
    'files',
    'files_reports',
    'filesets',
    'formula_log',
    'formulas',
    'jobs',
    'links',
    'model_history',
    'owners',
    'refused',
    'revisions',
    'runs',
    'score_topics',
    'scores',
    'users',
    'uses',
  ]);
});

import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { printPart } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { printChange } from '../../../lib/snapshot/changes/change.ts';
import { changesKey } from '../../../lib/snapshot/keys.ts';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { monday, publishLines, tuesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

/* Queries that people type first, without looking at the columns, over a store with known results. */

const store = createMemoryStore();
const put = (key: string, value: unknown) => store.put(key, Buffer.from(`${JSON.stringify(value)}\n`));

const SALES = 'cd27b9a0-a9d4-446b-9b16-02103df7f112';
const GONE = '00000000-a9d4-446b-9b16-02103df7f112';
const SET = '11111111-2222-4333-8444-555555555555';

const link = (type: string, id: string, valid = 'VALID') => ({
  resource: { type, id },
  visible: true,
  active: true,
  valid,
});
const calculation = (id: string, name: string, more: object) =>
  JSON.stringify({ name, archived: false, locked: false, status: 'VALID', links: [], ...more }).replace(
    '{',
    `{"id":${id},`,
  );
const day = (text: string) => Date.parse(`${text}T12:00:00Z`);
const calculations = [
  calculation('1008', 'Visits', {
    owner: 7,
    created: day('2025-01-05'),
    lastModified: day('2026-10-01'),
    links: [link('DATA_SOURCE', SALES), link('CARD', '501:1')],
  }),
  calculation('1009', 'Revenue', {
    owner: 7,
    locked: true,
    status: 'INVALID',
    created: day('2026-02-05'),
    lastModified: day('2026-03-01'),
    links: [link('DATA_SOURCE', SALES)],
  }),
  calculation('1036', 'Cost', {
    owner: 8,
    archived: true,
    created: day('2026-11-10'),
    lastModified: day('2026-11-11'),
    links: [link('DATA_SOURCE', GONE, 'ILLEGAL_REFERENCE')],
  }),
  calculation('2000', 'Margin', { owner: 8, created: day('2024-05-01'), lastModified: day('2024-05-01') }),
  calculation('123456789012345678901234567890', 'Margin', {
    owner: 9,
    created: day('2026-11-12'),
    lastModified: day('2026-11-12'),
  }),
];
const card = (id: number, title: string, more: object) =>
  JSON.stringify({ id, urn: String(id), title, access: true, datasourceId: SALES, ...more });
const cards = [
  card(501, 'Sales', {
    type: 'KPI',
    chartType: 'BADGE_BAR',
    ownerId: 7,
    owners: [{ id: '7', type: 'USER', displayName: 'Ada' }],
  }),
  card(502, 'Traffic', {
    type: 'DOCUMENT',
    chartType: 'PIE',
    ownerId: 8,
    owners: [{ id: '8', type: 'USER', displayName: 'Bob' }],
  }),
];
const file = (id: string, path: string, more: object) =>
  JSON.stringify({ _filesetId: SET, id, path, name: path.split('/').at(-1), ...more });
const files = [
  file('aaaaaaaa-0000-4000-8000-000000000001', 'in', {
    fileType: 'DIRECTORY',
    size: null,
    created: '2026-08-01T00:00:00Z',
    createdBy: 7,
  }),
  file('aaaaaaaa-0000-4000-8000-000000000002', 'in/a.csv', {
    fileType: 'TEXT',
    contentType: 'text/csv',
    size: 100,
    created: '2026-11-01T00:00:00Z',
    createdBy: 7,
    indexStatus: 'COMPLETED',
    hash: 'ABCD',
  }),
  file('aaaaaaaa-0000-4000-8000-000000000003', 'in/b.pdf', {
    fileType: 'DOCUMENT',
    contentType: 'application/pdf',
    size: 5_000,
    created: '2026-09-01T00:00:00Z',
    createdBy: 8,
    indexStatus: 'FAILED',
    hash: 'EF01',
  }),
];
const revision = {
  dataFileRevisionId: 91,
  dataFileId: 31,
  contentType: 'text/csv',
  uploadUserId: 8,
  sizeBytes: 77,
  uploadTimeMillis: 5,
  md5Hash: 'AA',
  datetimeUploaded: day('2026-07-01'),
  scanState: 'SAFE',
  sha256HashValue: 'BB',
};
const dataFiles = [
  JSON.stringify({
    dataFileId: 31,
    name: 'x.csv',
    responsibleUserId: 8,
    currentRevision: revision,
    revisions: [revision],
    datetimeCreated: day('2026-07-01'),
    existing: true,
  }),
];

await publishLines(store, { run: monday, lines: calculations.slice(0, 3) });
const CHANGES = changesKey('calculations', tuesday, monday.id, '0');
await publishLines(store, {
  run: tuesday,
  lines: calculations,
  manifest: { changes: { against: monday.id, added: 2, removed: 0, changed: 0, key: CHANGES } },
});
await store.put(
  CHANGES,
  gzipSync(
    [
      { change: 'added', key: '2000', after: calculations[3] ?? '' } as const,
      { change: 'added', key: '123456789012345678901234567890', after: calculations[4] ?? '' } as const,
    ]
      .map((change) => `${printChange(change)}\n`)
      .join(''),
  ),
);
await publishLines(store, { place: 'cards', run: tuesday, lines: cards });
await publishLines(store, { place: 'files', run: tuesday, lines: files });
await publishLines(store, { place: 'data-files', run: tuesday, lines: dataFiles });

const job = (type: string, id: string, at: string, more: object) =>
  put(`results/${type}/dt=${at}/${id}.json`, {
    version: 1,
    id,
    type,
    attempts: 1,
    startedAt: `${at}T01:00:00.000Z`,
    finishedAt: `${at}T01:00:05.000Z`,
    sender: 'me',
    ...more,
  });
await job('run-function', 'f1', '2026-11-20', { status: 'done', response: { result: 3 } });
await job('run-function', 'f2', '2026-11-21', {
  status: 'failed',
  error: { kind: 'timeout', message: 'it took too long' },
});
await job('run-function', 'f3', '2026-11-21', { status: 'unknown' });
await job('update-formula', 'u1', '2026-11-21', {
  status: 'failed',
  error: { kind: 'status', message: '400' },
});
await put('formulas/1008/20261101T000000000Z.json', {
  id: 1008,
  name: 'Visits',
  expression: 'SUM(`visits`)',
  status: 'VALID',
  lastModified: day('2026-11-01'),
});
await put('formulas/sets/spring/_set.json', { version: 1, name: 'spring', rows: [] });
const { key, body } = printPart({ batch: 'May', chunk: 0 }, [
  { id: 't1', line: 2, textHash: 'h1', topicSentiments: { price: 'NEGATIVE', service: 'POSITIVE' } },
  { id: 't2', line: 3, textHash: 'h2', topicSentiments: { price: 'negative', service: null } },
  { id: 't3', line: 4, textHash: 'h3', error: 'refused' },
  { line: 5, error: 'the text is blank' },
]);
await store.put(key, body);
const tables = await openTables(store);

afterAll(() => tables[Symbol.asyncDispose]());

/** A query as a person types it, with the right rows, or with the name that the error must suggest. */
type Guess = readonly [sql: string, right: readonly (readonly unknown[])[] | string];

const LONG = '123456789012345678901234567890';
const guesses: readonly Guess[] = [
  // Ids, as numbers and as text.
  ['SELECT name FROM calculations WHERE id = 1008', [['Visits']]],
  ["SELECT name FROM calculations WHERE id = '1008'", [['Visits']]],
  ['SELECT name FROM calculations WHERE calculation_id = 1009', [['Revenue']]],
  [`SELECT name FROM calculations WHERE id = ${LONG}`, [['Margin']]],
  ['SELECT name FROM calculations WHERE id IN (1008, 1036) ORDER BY name', [['Cost'], ['Visits']]],
  ['SELECT count(*) FROM calculations WHERE id NOT IN (1008, 1036)', [[3]]],
  ['SELECT name FROM calculations WHERE id <> 1008 AND owner = 7', [['Revenue']]],
  ['SELECT count(*) FROM calculations WHERE id > 1500', [[2]]],
  ['SELECT count(*) FROM calculations WHERE id BETWEEN 1000 AND 1099', [[3]]],
  ['SELECT c.name FROM calculations c WHERE c.id = 2000', [['Margin']]],
  ['SELECT title FROM cards WHERE id = 501', [['Sales']]],
  ['SELECT title FROM cards WHERE card_id = 502', [['Traffic']]],
  ['SELECT name FROM data_files WHERE data_file_id = 31', [['x.csv']]],
  ['SELECT count(*) FROM calculations WHERE owner_id = 7', [[2]]],
  ["SELECT count(*) FROM calculations WHERE owner = '7'", [[2]]],
  [`SELECT count(*) FROM cards WHERE dataset_id = '${SALES.toUpperCase()}'`, [[2]]],
  ['SELECT user_kind, user_id FROM uses WHERE used_id = 1008 ORDER BY 2', [['card', '501']]],
  [`SELECT count(*) FROM uses WHERE used_id = '${SALES}' AND user_kind = 'calculation'`, [[2]]],
  ['SELECT expression FROM formulas WHERE calculation_id = 1008', [['SUM(`visits`)']]],
  [
    "SELECT user_id, used_id, relation FROM uses WHERE used_kind = 'COLUMN'",
    [['1008', `${SALES}:visits`, 'reads']],
  ],
  [`SELECT count(*) FROM uses WHERE used_id = '${SALES}:Visits'`, [[1]]],
  ['SELECT change FROM changes WHERE key = 2000', [['added']]],
  // Times, as dates and texts.
  ["SELECT count(*) FROM calculations WHERE created > '2026-01-01'", [[3]]],
  ["SELECT count(*) FROM calculations WHERE created >= DATE '2026-01-01'", [[3]]],
  ["SELECT count(*) FROM calculations WHERE created_at >= '2026-01-01'", [[3]]],
  ["SELECT name FROM calculations WHERE lastModified < '2025-01-01'", [['Margin']]],
  ["SELECT name FROM calculations WHERE last_modified < '2025-01-01'", [['Margin']]],
  ["SELECT count(*) FROM calculations WHERE modified_at BETWEEN '2026-01-01' AND '2026-10-31'", [[2]]],
  ["SELECT count(*) FROM calculations WHERE lastModified BETWEEN '2026-01-01' AND '2026-10-31'", [[2]]],
  ["SELECT count(*) FROM calculations WHERE created > now() - INTERVAL '100 years'", [[5]]],
  ['SELECT count(*) FROM calculations WHERE lastmodified < current_date - 1', [[5]]],
  [
    'SELECT year(created), count(*) FROM calculations GROUP BY 1 ORDER BY 1',
    [
      [2024, 1],
      [2025, 1],
      [2026, 3],
    ],
  ],
  [
    "SELECT date_trunc('month', lastmodified)::VARCHAR, name FROM calculations WHERE id = 1008",
    [['2026-10-01 00:00:00', 'Visits']],
  ],
  ["SELECT name FROM calculations WHERE created::date = '2026-11-12'", [['Margin']]],
  ["SELECT path FROM files WHERE created >= '2026-10-01'", [['in/a.csv']]],
  ["SELECT path FROM files WHERE created_at >= DATE '2026-10-01'", [['in/a.csv']]],
  ["SELECT count(*) FROM jobs WHERE finishedat >= DATE '2026-11-21'", [[3]]],
  ["SELECT count(*) FROM jobs WHERE dt >= '2026-11-21'", [[3]]],
  ["SELECT count(*) FROM jobs WHERE dt = DATE '2026-11-20'", [[1]]],
  ["SELECT count(*) FROM data_files WHERE datetimecreated < '2026-08-01'", [[1]]],
  // Several tables, of which only one has the column with the type of the comparison.
  [
    `SELECT name FROM calculations WHERE id > 1500 UNION ALL SELECT id FROM jobs WHERE id = 'f1' ORDER BY 1`,
    [['Margin'], ['Margin'], ['f1']],
  ],
  [
    "SELECT title FROM cards WHERE id < 502 UNION ALL SELECT batch FROM scores WHERE id = 't1' ORDER BY 1",
    [['May'], ['Sales']],
  ],
  [
    `SELECT count(*) FROM calculations WHERE created > DATE '2026-01-01' UNION ALL
     SELECT count(*) FROM files WHERE created > DATE '2026-10-01' ORDER BY 1`,
    [[1], [3]],
  ],
  ['SELECT c.name FROM calculations c, jobs j WHERE c.id = 1008 AND j.id = $$f1$$', [['Visits']]],
  ['SELECT DISTINCT c.name FROM jobs AS j JOIN calculations AS c ON c.id < 1009', [['Visits']]],
  [
    `SELECT d.title FROM cards AS d JOIN calculations AS c ON d.owner_id = c.owner AND c.created > DATE '2026-11-01'`,
    [['Traffic']],
  ],
  ['SELECT count(*) FROM calculations AS a JOIN calculations AS b USING (id) WHERE id > 1500', [[2]]],
  ['SELECT count(*) FROM calculations c JOIN runs r ON c.created < r.started_at WHERE r.latest', [[20]]],
  // Nested queries.
  ['SELECT count(*) FROM (SELECT id AS number FROM calculations) AS q WHERE q.number > 1500', [[2]]],
  ["SELECT count(*) FROM (SELECT created FROM calculations) WHERE created >= DATE '2026-01-01'", [[3]]],
  ["SELECT count(*) FROM (SELECT created AS at FROM files) q WHERE q.at >= DATE '2026-09-01'", [[2]]],
  ['WITH c AS (SELECT * FROM calculations) SELECT name FROM c WHERE id = 1008', [['Visits']]],
  ['WITH c(number) AS (SELECT id FROM calculations) SELECT count(*) FROM c WHERE number > 1500', [[2]]],
  [
    `WITH things AS (SELECT id, created FROM calculations UNION ALL SELECT card_id, NULL FROM cards)
     SELECT count(*) FROM things WHERE created > DATE '2026-01-01'`,
    [[3]],
  ],
  [
    'WITH ids AS (SELECT id FROM calculations UNION ALL SELECT card_id FROM cards) SELECT count(*) FROM ids WHERE id > 502',
    [[5]],
  ],
  [
    'SELECT name FROM calculations AS c WHERE EXISTS (SELECT 1 FROM jobs WHERE c.id < 1009) ORDER BY 1',
    [['Visits']],
  ],
  ['SELECT name FROM calculations WHERE EXISTS (SELECT 1 FROM runs WHERE id = 1008)', [['Visits']]],
  ['SELECT id AS number FROM calculations WHERE number BETWEEN 1 AND 1008', [['1008']]],
  // Values of enumerations, in any letter case.
  ["SELECT count(*) FROM calculations WHERE status = 'VALID'", [[4]]],
  ["SELECT count(*) FROM calculations WHERE status = 'invalid'", [[1]]],
  ["SELECT count(*) FROM calculations WHERE status <> 'VALID'", [[1]]],
  [
    'SELECT status, count(*) FROM calculations GROUP BY status ORDER BY 1',
    [
      ['invalid', 1],
      ['valid', 4],
    ],
  ],
  ["SELECT count(*) FROM jobs WHERE status = 'FAILED'", [[2]]],
  [
    'SELECT status, count(*) FROM jobs GROUP BY status ORDER BY status',
    [
      ['done', 1],
      ['failed', 2],
      ['unknown', 1],
    ],
  ],
  ["SELECT count(*) FROM files WHERE filetype = 'directory'", [[1]]],
  ["SELECT count(*) FROM files WHERE file_type = 'DIRECTORY'", [[1]]],
  ["SELECT path FROM files WHERE index_status = 'failed'", [['in/b.pdf']]],
  ["SELECT title FROM cards WHERE chart_type = 'badge_bar'", [['Sales']]],
  ["SELECT title FROM cards WHERE type = 'kpi'", [['Sales']]],
  ["SELECT count(*) FROM score_topics WHERE sentiment = 'NEGATIVE'", [[2]]],
  ["SELECT count(*) FROM uses WHERE validity = 'ILLEGAL_REFERENCE'", [[1]]],
  ["SELECT count(*) FROM changes WHERE change = 'ADDED'", [[2]]],
  ["SELECT name FROM data_files WHERE scan_state = 'SAFE'", [['x.csv']]],
  // Names of owners, and what they own.
  [
    'SELECT owner_name, count(*) FROM cards GROUP BY owner_name ORDER BY 1',
    [
      ['Ada', 1],
      ['Bob', 1],
    ],
  ],
  ["SELECT count(*) FROM calculations WHERE owner_name = 'Ada'", [[2]]],
  ["SELECT count(*) FROM files WHERE owner_name = 'Bob'", [[1]]],
  [
    'SELECT owner_id, owner_name, calculations FROM owners ORDER BY owner_id',
    [
      ['7', 'Ada', 2],
      ['8', 'Bob', 2],
      ['9', null, 1],
    ],
  ],
  ['SELECT name FROM users WHERE user_id = 7', [['Ada']]],
  // Problems and totals.
  ['SELECT count(*) FROM calculations WHERE unused', [[4]]],
  ['SELECT name FROM calculations WHERE broken_links', [['Cost']]],
  ['SELECT name, count(*) FROM calculations GROUP BY name HAVING count(*) > 1', [['Margin', 2]]],
  ['SELECT sum(size) FROM files', [[5100]]],
  ['SELECT files, size_bytes FROM filesets', [[2, 5100]]],
  ['SELECT cards FROM datasets', [[2], [0]]],
  ['SELECT texts, scored, failed, bad FROM batches', [[4, 2, 1, 1]]],
  ['SELECT count(*) FROM formulas', [[1]]],
  [
    'SELECT place, records FROM runs WHERE latest ORDER BY place',
    [
      ['calculations', 5],
      ['cards', 2],
      ['data-files', 1],
      ['files', 3],
    ],
  ],
  // Names that differ here: the error suggests the right one.
  ['SELECT name FROM cards', 'title'],
  ['SELECT card_type FROM cards', 'type'],
  ['SELECT formula FROM calculations', 'expression'],
  ['SELECT size FROM data_files', 'size_bytes'],
  ['SELECT owner FROM files', 'owner_id'],
  ['SELECT content_type FROM files', 'contenttype'],
  ['SELECT reason FROM jobs', 'error_message'],
  ['SELECT state FROM jobs', 'status'],
  ['SELECT id FROM uses', 'used_id'],
  ['SELECT count(*) FROM calculations c JOIN owners o ON c.owner = o.id', 'user_id'],
  ["SELECT title FROM cards WHERE owners LIKE '%Ada%'", 'owner_name'],
  ["SELECT title FROM cards WHERE lower(owners) = 'ada'", 'owner_name'],
  ["SELECT title FROM cards WHERE owners = 'Ada'", 'owner_name'],
  ["SELECT * FROM owners WHERE owners LIKE '%Ada%'", 'owner_name'],
  ["SELECT name FROM calculations WHERE owners LIKE '%Ada%'", 'owner_name'],
  ['SELECT o.title FROM cards c JOIN (SELECT name FROM calculations) o ON true', 'name'],
  ["SELECT count(*) FROM calculations, UNNEST(links) AS l WHERE l.valid = 'VALID'", 'l.unnest.valid'],
  ['SELECT count(*) FROM broken_links', 'calculations'],
  ['SELECT * FROM snapshots', 'runs'],
  ['SELECT * FROM dependencies', 'uses'],
  ['SELECT * FROM topics', 'score_topics'],
];

const answered = guesses.flatMap(([sql, right]) =>
  typeof right === 'string' ? [] : [[sql, right] as const],
);
/** Runs many queries as one, since each query creates its own databases. */
async function rowsOfEach(queries: readonly string[]) {
  const each = queries.map(
    (sql, at) => `SELECT ${at} AS at, CAST(to_json(list(t)) AS VARCHAR) AS found FROM (\n${sql}\n) AS t`,
  );
  const { first, faults } = await tables.run(each.join('\nUNION ALL '), { maxRows: 100 });
  expect(faults).toEqual([]);
  const found = new Map(
    first.map(([at, rows]) => [at, JSON.parse(String(rows)) as readonly object[] | null]),
  );
  return queries.map((_, at) => (found.get(at) ?? []).map((row) => Object.values(row)));
}

describe('among queries that people type first', () => {
  test('more than seventy are tested', () => {
    expect(new Set(guesses.map(([sql]) => sql)).size).toBeGreaterThan(70);
  });

  // All examples run in one query, which also shows that a column is compared as that of its own table.
  test('each finds the right rows or gets the right hint', async () => {
    const found = await rowsOfEach(answered.map(([sql]) => sql));

    expect(answered.map(([sql], at) => [sql, found[at]])).toEqual(answered);
  });

  test.each(guesses.filter(([, right]) => typeof right === 'string'))(
    'the failing query %s gets the suggestion %s',
    async (sql, right) => {
      await expect(tables.run(sql, { maxRows: 1 })).rejects.toThrow(`Did you mean "${right}"?`);
    },
  );
});

test('a bare year is not read as a number of milliseconds', async () => {
  await expect(
    tables.run("SELECT count(*) FROM calculations WHERE created > '2026'", { maxRows: 1 }),
  ).rejects.toThrow('"2026"');
});

describe('a value that a column never has', () => {
  const notesOf = async (sql: string) => (await tables.run(sql, { maxRows: 1 })).notes;

  test.each([
    [
      "SELECT count(*) FROM jobs WHERE type = 'function'",
      'type is never "function": it is run-function, score, update-formula, data-files or snapshot',
    ],
    [
      "SELECT count(*) FROM changes WHERE change IN ('added', 'deleted')",
      'change is never "deleted": it is added, removed or changed',
    ],
    [
      "SELECT count(*) FROM (SELECT * FROM uses) u WHERE u.used_kind <> 'DATA_SOURCE'",
      'used_kind is never "DATA_SOURCE": it is calculation, card, dataset, column or other',
    ],
    [
      "SELECT place FROM runs WHERE source = 'data_files'",
      'source is never "data_files": it is calculations, files, cards or data-files',
    ],
  ])('causes a note: %s', async (sql, words) => {
    expect(await notesOf(sql)).toEqual([words]);
  });

  test.each([
    [
      "SELECT count(*) FROM calculations WHERE status = 'ok'",
      'status is never "ok" here: it is invalid or valid',
    ],
    [
      "SELECT count(*) FROM all_calculations c WHERE c.status IN ('ok', 'VALID')",
      'status is never "ok" here: it is invalid or valid',
    ],
    [
      "SELECT count(*) FROM score_topics WHERE sentiment='NEG'",
      'sentiment is never "NEG" here: it is negative or positive',
    ],
    ["SELECT count(*) FROM scores WHERE sentiment = 'negative'", 'sentiment is null in all rows of scores'],
    [
      "SELECT count(*) FROM cards WHERE charttype = 'bar'",
      'charttype is never "bar" here: it is BADGE_BAR or PIE',
    ],
    [
      "WITH f AS (SELECT * FROM files) SELECT count(*) FROM f WHERE file_type = 'csv'",
      'file_type is never "csv" here: it is directory, document or text',
    ],
  ])('is reported with the values that the column has: %s', async (sql, words) => {
    expect(await notesOf(sql)).toEqual([words]);
  });

  test('is not reported if the column has it, in any case, or if there are no rows', async () => {
    expect(await notesOf("SELECT 1 FROM jobs WHERE status = 'DONE' AND id = 'x'")).toEqual([]);
    expect(await notesOf("SELECT 1 FROM calculations WHERE status = 'INVALID' AND id = 1")).toEqual([]);
    await using empty = await openTables(createMemoryStore());
    expect((await empty.run("SELECT 1 FROM formula_log WHERE status = 'ok'", { maxRows: 1 })).notes).toEqual(
      [],
    );
  });
});

test('a note says that a column is always null if the platform’s search does not return it', async () => {
  const columns = ['expression', 'dataType', 'functions'];

  const { notes } = await tables.run(
    `SELECT id FROM calculations WHERE ${columns.map((column) => `${column} IS NOT NULL`).join(' OR ')}`,
    { maxRows: 1 },
  );

  expect(notes).toEqual(
    columns.map(
      (column) =>
        `${column.toLowerCase()} is null in all calculations: the platform’s search does not return it. The table formulas has the known formulas`,
    ),
  );
});

test('a query gets no note if it names no column that is always null', async () => {
  expect((await tables.run('SELECT name FROM calculations', { maxRows: 1 })).notes).toEqual([]);
});

test('the error for comparing a list with a string says that it is a list', async () => {
  const failed = tables.run("SELECT name FROM calculations WHERE functions LIKE '%SUM%'", { maxRows: 1 });

  await expect(failed).rejects.toThrow('functions is a list: list_contains(functions, …)');
});

describe('a listing of the tables', () => {
  const named = async (sql: string) => {
    const { first } = await tables.run(sql, { maxRows: 200 });
    return first.flat().map(String).sort();
  };

  test.each([
    'SELECT table_name FROM information_schema.tables',
    'SELECT DISTINCT c.table_name FROM information_schema.columns AS c',
    'SELECT tables.table_name FROM INFORMATION_SCHEMA . "tables"',
    'SELECT name FROM (SHOW TABLES)',
  ])('has only the tables that people use: %s', async (sql) => {
    expect(await named(sql)).toEqual((await tables.list()).map(({ name }) => name).sort());
  });

  test('has only the schema of these tables', async () => {
    expect(await named('SELECT DISTINCT table_schema FROM information_schema.tables')).toEqual(['main']);
  });
});

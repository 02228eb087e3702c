import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../lib/sandbox/platform/start-platform.ts';
import { sources } from '../lib/snapshot/sources/sources.ts';
import { createDirectoryStore } from '../lib/store/directory.ts';
import { glueViews } from '../lib/tables/catalog/glue-views.ts';
import { viewsOver } from '../lib/tables/catalog/tables.ts';
import { beginCommand, settingsOf } from './cli/run-command.ts';
import { folderOfAll } from './folder-of-each.ts';
import { connect, contextOver } from './report/mcp/connect.ts';

/* Each value of an enumeration, such as a status, is in lower case in every output, however the platform spells it. */

const path = folderOfAll();
let sandbox: Sandbox;
/** The output of each command and reader, as text. */
const doors = new Map<string, string>();
/** All values of enumerations that SQL columns contain. */
const words = new Set<string>();

/** Columns and members with raw values or records of the platform. */
const RAW =
  /^(?:sent|.*_sent|filetype|indexstatus|charttype|scanstate|hashalgorithm|datatype|cachewindow|contenttype|links|activelinks|owners|currentrevision|revisions|response|before|after|_other|hash|columns|error|expression|path|name|title)$/i;

const begin = (...argv: readonly string[]) =>
  beginCommand(argv, { ...settingsOf(sandbox, join(path, 'store')), LOG_LEVEL: 'silent' }).ended;

async function say(door: string, ...argv: readonly string[]): Promise<string> {
  const { out, err, code } = await begin(...argv);
  expect([0, 1, 3], `${door}: ${err}`).toContain(code);
  doors.set(door, out);
  return out;
}

const wordColumns = viewsOver(sources)
  .filter(({ name }) => !name.startsWith('all_'))
  .flatMap(({ name: table, columns }) =>
    Object.entries(columns).flatMap(([column, { isWord }]) =>
      isWord && !RAW.test(column) ? [{ table, column }] : [],
    ),
  );

/**
 * Queries all values of enumerations, and all rows of the other tables, each with one query, since opening SQL takes
 * longer than reading.
 */
async function askTables(): Promise<void> {
  const distinct = wordColumns.map(
    ({ table, column }) => `SELECT DISTINCT '${table}.${column}' AS door, ${column} AS said FROM ${table}`,
  );
  const rows = ['cards', 'files', 'data_files', 'uses', 'jobs', 'scores', 'score_topics', 'runs'].map(
    (table) => `SELECT '${table}' AS door, CAST(to_json(t) AS VARCHAR) AS said FROM ${table} AS t`,
  );
  const found = new Map<string, string[]>();
  for (const queries of [distinct, rows])
    for (const { door, said } of JSON.parse(
      (await begin('query', queries.join(' UNION ALL '), '--json')).out,
    ))
      if (said !== null) found.set(door, [...(found.get(door) ?? []), said]);
  for (const [door, said] of found) {
    const isRows = said[0]?.startsWith('{') === true;
    if (!isRows) for (const word of said) words.add(word);
    doors.set(
      `query ${door}`,
      isRows ? `[${said.join(',')}]` : JSON.stringify(said.map((word) => ({ word }))),
    );
  }
}

beforeAll(async () => {
  sandbox = await startPlatform({
    calculations: 60,
    datasets: 3,
    cards: 12,
    fileSets: 1,
    filesPerSet: 20,
    dataFiles: 3,
  });
  const { state } = sandbox;
  const texts = join(path, 'texts.csv');
  await writeFile(
    texts,
    'id,text,on\n1,The support was wonderful!,2026-11-02\n2,The box was damaged.,2026-11-09\n3,,2026-11-09\n',
  );
  await begin('snapshot', 'calculations', '--no-tables');
  await begin('snapshot', 'cards', '--no-tables');
  await begin('snapshot', 'files', '--no-tables', ...state.fileSets.flatMap(({ id }) => ['--fileset', id]));
  await begin('snapshot', 'data-files', '--no-tables', ...state.dataFileIds.flatMap((id) => ['--id', id]));
  const scored = join(path, 'scored.csv');
  const topics = ['--topic', 'support', '--columns', 'on', '--output', scored];
  await say(
    'score --json',
    'score',
    texts,
    '--text',
    'text',
    '--id',
    'id',
    '--batch',
    'may',
    ...topics,
    '--json',
  );
  doors.set('score --output', await readFile(scored, 'utf8'));
  const jobs = join(path, 'jobs.ndjson');
  await writeFile(
    jobs,
    '{"version":1,"type":"run-function","id":"f1","packageId":"6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403","packageVersion":"1.0.0","functionName":"noSuchFunction"}\n',
  );
  await begin('run', jobs);
  await askTables();
  for (const table of ['calculations', 'batches'])
    await say(`query ${table}`, 'query', `SELECT * FROM ${table}`, '--json');
  for (const name of ['tokens-by-batch', 'sentiment-by-topic-and-week'])
    await say(`query ${name}`, 'query', '--saved', name, '--json');
  await say('query --csv', 'query', 'SELECT status, archived FROM calculations', '--csv');
  await say('report --json', 'report', '--json');
  await say('jobs --json', 'jobs', '--json');
  await say('jobs --status', 'jobs', '--status', 'failed', '--json');
  await say('redrive --json', 'redrive', 'f1', '--json', '--yes');
  await say('redrive left --json', 'redrive', 'f1', 'may.chunk-00000', '--json', '--yes');
  await say('jobs cancel --json', 'jobs', 'cancel', 'f1', '--json');
  await say('jobs resolve --json', 'jobs', 'resolve', 'f1', 'done', '--note', 'seen', '--json');
  await say('batches --json', 'batches', 'may', '--json');
  await say('runs --json', 'runs', '--json');
  await say('digest', 'digest', '--since', '7d');
  await say('where-used --json', 'where-used', state.datasets[0]?.id ?? '', '--json');
  await say('where-used', 'where-used', state.datasets[0]?.id ?? '');
  const page = join(path, 'report.html');
  await begin('report', '--output', page);
  doors.set('report', factsIn(await readFile(page, 'utf8')));
  await using server = await connect(contextOver(createDirectoryStore(join(path, 'store'))));
  for (const [tool, given] of [
    ['search', { text: '', limit: 50 }],
    ['jobs', {}],
    ['where_used', { id: state.datasets[0]?.id ?? '' }],
  ] as const)
    doors.set(`mcp ${tool}`, JSON.stringify((await server.call(tool, given)).value));
}, 240_000);

afterAll(() => sandbox.close());

/** The facts in the page. */
const factsIn = (html: string): string =>
  inflateRawSync(Buffer.from(/id="facts">([^<]*)</.exec(html)?.[1] ?? '', 'base64')).toString();

/** The texts in JSON that could be values of enumerations, with their paths. */
function* textsIn(value: unknown, at = ''): Generator<readonly [at: string, text: string]> {
  if (typeof value === 'string') yield [at, value];
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value))
      if (!RAW.test(name)) yield* textsIn(each, `${at}.${name}`);
}

/** The words that an output spells differently. */
function otherwise(said: string): readonly string[] {
  const isOther = (text: string) => words.has(text.toLowerCase()) && !words.has(text);
  try {
    return [...textsIn(JSON.parse(said))].flatMap(([at, text]) => (isOther(text) ? [`${at}: ${text}`] : []));
  } catch {
    return (said.match(/\b[A-Z][A-Z_]{2,}\b/g) ?? []).filter(isOther);
  }
}

test('the values of lists are in lower case in SQL, and there are many', () => {
  expect([...words].filter((word) => word !== word.toLowerCase())).toEqual([]);
  expect([...words]).toEqual(
    expect.arrayContaining([
      'valid',
      'invalid',
      'illegal_reference',
      'failed',
      'positive',
      'bad',
      'safe',
      'directory',
      'proved',
    ]),
  );
});

test('a column with a list of values has no other value', () => {
  const listed = viewsOver(sources).flatMap(({ name, columns }) =>
    Object.entries(columns).flatMap(([column, { values }]) =>
      values === undefined ? [] : [[`query ${name}.${column}`, values] as const],
    ),
  );

  expect(listed.length).toBeGreaterThan(6);
  for (const [door, values] of listed) {
    const said = (JSON.parse(doors.get(door) ?? '[]') as { readonly word: string }[]).map(({ word }) => word);
    expect([door, said.filter((word) => !values.includes(word))]).toEqual([door, []]);
  }
});

test('no output spells a listed value differently', () => {
  expect(doors.size).toBeGreaterThan(30);
  expect([...doors].flatMap(([door, said]) => otherwise(said).map((each) => `${door} ${each}`))).toEqual([]);
});

test('every output has some of the listed values', () => {
  const says = (said: string) => [...words].some((word) => said.includes(word));

  expect(
    [...doors].filter(([door, said]) => !says(said) && !door.startsWith('query ')).map(([door]) => door),
  ).toEqual([]);
});

describe('a batch that was scored without a queue', () => {
  const said = (door: string) => JSON.parse(doors.get(door) ?? 'null');

  test('has the same counts in every output, and bad rows are not failed ones', () => {
    const counts = { scored: 2, failed: 0, bad: 1 };

    expect(said('score --json')).toMatchObject({ rows: 3, ...counts });
    expect(said('batches --json')).toMatchObject({ rows: 3, ...counts, failures: [] });
    expect(said('query batches')).toMatchObject([{ batch: 'may', texts: 3, ...counts }]);
    expect(said('report').batches).toMatchObject([{ rows: 3, ...counts, failures: [] }]);
  });

  test('has its calls and tokens in SQL, also in a saved query', () => {
    const { calls, tokens } = said('score --json');
    const costs = { calls, input_tokens: tokens.input, total_tokens: tokens.total };

    expect(calls).toBe(2);
    expect(tokens.total).toBeGreaterThan(0);
    expect(said('query batches')).toMatchObject([costs]);
    expect(said('query tokens-by-batch')).toMatchObject([costs]);
    expect(said('report').batches).toMatchObject([{ calls, tokens }]);
  });

  test('has the weeks of its column with dates', () => {
    const weeks = said('query sentiment-by-topic-and-week').map(
      ({ week }: { readonly week: string }) => week,
    );

    expect(new Set(weeks)).toEqual(new Set(['2026-11-02', '2026-11-09']));
    expect(said('report').batches[0].overTime).toMatchObject({
      column: 'on',
      days: [{ day: '2026-11-02' }, { day: '2026-11-09' }],
    });
  });
});

test('the Athena views have the values in lower case too', () => {
  const views = new Map(
    glueViews('db').map(({ name, text }) => {
      const [, encoded = ''] = /Presto View: (\S+)/.exec(text) ?? [];
      return [name, String(JSON.parse(Buffer.from(encoded, 'base64').toString()).originalSql)] as const;
    }),
  );

  for (const { table, column } of wordColumns)
    expect(views.get(table), `${table}.${column}`).toMatch(
      new RegExp(`lower\\([^)]*\\)*\\)* AS ${column}\\b|lower\\(.*\\) AS ${column}\\b`),
    );
});

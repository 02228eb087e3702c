import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../lib/base/json/json.ts';
import { writeResult } from '../../../lib/jobs/result.ts';
import { printPart, type ScoredRow } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { type Sandbox, startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import type { Store } from '../../../lib/store/store.ts';
import { openTables, type Tables } from '../../../lib/tables/duckdb/open-tables.ts';
import { savedSql } from '../../../lib/tables/duckdb/query-text.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { type TakenRun, type Truth, takeSnapshot, truthOf } from '../runs.ts';

const cleanUp = new AsyncDisposableStack();
let tables: Tables;
let sandbox: Sandbox;
/** The records of the sandbox at the time of each round of snapshots. */
const truths: ReturnType<typeof truthOf>[] = [];
let now: ReturnType<typeof truthOf>;
let remainingDataFiles: readonly string[];

const DAY_MS = 86_400_000;
const startedAt = Date.now();
/** The time this number of days ago, ISO 8601. */
const daysAgo = (days: number) =>
  `${new Date(startedAt - days * DAY_MS).toISOString().slice(0, 10)}T06:00:00.000Z`;
const dayOf = (days: number) => daysAgo(days).slice(0, 10);

/** Takes four rounds of snapshots, two of them within the last week. */
beforeAll(async () => {
  sandbox = cleanUp.use(
    await startPlatform({
      calculations: 400,
      datasets: 8,
      cards: 60,
      fileSets: 2,
      filesPerSet: 80,
      dataFiles: 6,
    }),
  );
  const store = createMemoryStore();
  const runs = { sandbox, store };
  const { dataFileIds, datasets, fileSets } = sandbox.state;
  const datasetIds = datasets.map(({ id }) => id);
  const takeAll = async (run: TakenRun, cards: readonly string[], dataFiles: readonly string[]) => {
    truths.push(truthOf(sandbox));
    const filesets = fileSets.map(({ id }) => id);
    await takeSnapshot(runs, { source: 'calculations' }, run);
    await takeSnapshot(runs, { source: 'files', filesets }, run);
    // All rounds use one place. Otherwise a round with fewer datasets would have another place.
    await takeSnapshot(runs, { source: 'cards', datasets: [...cards], drill: true, as: 'rounds' }, run);
    await takeSnapshot(runs, { source: 'data-files', ids: [...dataFiles] }, run);
  };

  await takeAll({ at: daysAgo(15) }, datasetIds, dataFileIds);
  sandbox.churn(50);
  await takeAll({ at: daysAgo(9), compression: 'zstd' }, datasetIds.slice(0, 6), dataFileIds.slice(0, 4));
  sandbox.churn(80);
  await takeAll({ at: daysAgo(6) }, datasetIds, dataFileIds);
  sandbox.churn(60);
  repeatFiles(sandbox);
  now = truthOf(sandbox);
  remainingDataFiles = dataFileIds.slice(2);
  await takeAll({ at: daysAgo(1) }, datasetIds, remainingDataFiles);
  // These runs are in no table: a narrowed one, a refused one, and one that was never published.
  const later = { at: daysAgo(0) };
  await takeSnapshot(runs, { source: 'calculations', name: 'a', as: 'a' }, later);
  await takeSnapshot(runs, { source: 'calculations', name: 'a' }, { ...later, accept: false });
  await store.put(
    `calculations/dt=${dayOf(0)}/run=20261122T060000Z-eeeeee/part-00000-0123456789ab.ndjson.gz`,
    gzipSync('{"id":1}\n'),
  );
  await writeJobs(store);
  await writeScores(store);
  for (const [at, expression] of ['MAX(1)', 'SUM(1)'].entries())
    await store.put(
      `formulas/1008/2026110${at + 1}T000000000Z.json`,
      Buffer.from(`${JSON.stringify({ id: 1008, expression, status: 'VALID', lastModified: at })}\n`),
    );
  tables = await openTables(store);
}, 120_000);

/** Rows by the names of their columns. */
async function rowsOf(sql: string, of = tables) {
  const { columns, first, faults } = await of.run(sql, { maxRows: 10_000 });
  expect(faults).toEqual([]);
  return first.map(
    (row): Readonly<Record<string, unknown>> =>
      Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])),
  );
}

const saved = (name: string, of = tables) => rowsOf(savedSql(name), of);

afterAll(async () => {
  await tables?.[Symbol.asyncDispose]();
  await cleanUp.disposeAsync();
});

type Ended = Pick<Parameters<typeof writeResult>[1], 'type' | 'id' | 'outcome'> & { readonly days: number };

async function writeJobs(store: Store): Promise<void> {
  const failed = (kind: string) => ({ status: 'failed', error: { kind, message: 'no' } }) as const;
  const chunk = (batch: string, number: number, calls: number) =>
    ({
      status: 'done',
      response: JSON.stringify(
        {
          batch,
          chunk: number,
          calls,
          cached: 1,
          paidAgain: 0,
          tokens: { input: 10 * calls, output: calls, total: 11 * calls },
        },
        undefined,
        2,
      ),
    }) as const;
  const jobs: readonly Ended[] = [
    { type: 'run-function', id: 'a', days: 2, outcome: failed('timeout') },
    { type: 'run-function', id: '_b', days: 2, outcome: failed('timeout') },
    { type: 'run-function', id: 'C', days: 2, outcome: { status: 'unknown' } },
    { type: 'update-formula', id: 'd', days: 1, outcome: failed('status') },
    { type: 'update-formula', id: 'e', days: 31, outcome: failed('status') },
    { type: 'data-files', id: 'f', days: 1, outcome: { status: 'done', response: '"no object"' } },
    { type: 'score', id: 'g', days: 1, outcome: { status: 'done', response: '{"results":[]}' } },
    { type: 'score', id: 'May.chunk-00000', days: 8, outcome: chunk('May', 0, 3) },
    { type: 'score', id: 'May.chunk-00001', days: 1, outcome: chunk('May', 1, 2) },
    {
      type: 'score',
      id: 'May.chunk-00002',
      days: 1,
      outcome: { ...failed('cancelled'), response: '{"batch":"May","chunk":2}' },
    },
    { type: 'score', id: 'june.chunk-00000', days: 1, outcome: chunk('june', 0, 1) },
  ];
  for (const { days, outcome, ...job } of jobs) {
    const state = { done: 'DONE', failed: 'FAILED', unknown: 'UNKNOWN' } as const;
    const times = { createdAt: startedAt, finishedAt: startedAt };
    await writeResult(store, {
      ...job,
      ...times,
      outcome,
      state: state[outcome.status],
      dt: dayOf(days),
      fence: 1,
      attempts: 1,
      takeovers: 0,
    });
  }
}

async function writeScores(store: Store): Promise<void> {
  const row = (line: number, scores: object): ScoredRow => ({
    id: `r${line}`,
    line,
    columns: { Channel: 'é' },
    textHash: `h${line}`,
    calls: 1,
    cached: 0,
    paidAgain: 0,
    tokens: { input: 10, output: 1, total: 11, reasoning: 0 },
    ...scores,
  });
  const parts = [
    printPart({ batch: 'May', chunk: 0 }, [
      row(1, { topicSentiments: { delivery: 'NEGATIVE', price: 'VERY_NEGATIVE' } }),
      row(2, { topicSentiments: { delivery: 'POSITIVE', price: 'NOT_APPLICABLE' } }),
      row(3, { error: 'no' }),
    ]),
    printPart({ batch: 'May', chunk: 1 }, [
      row(4, { topicSentiments: { delivery: 'negative', price: { odd: 1 } } }),
      row(5, { topicSentiments: 'odd' }),
    ]),
    printPart({ batch: 'june', chunk: 0 }, [
      row(1, { sentiment: 'NEGATIVE' }),
      { line: 2, error: 'the text is blank' },
    ]),
    printPart({ batch: 'by-command', chunk: 0 }, [row(1, { sentiment: 'NEUTRAL' })]),
    printPart({ batch: 'reviews-20261125T091500Z', chunk: 0 }, [row(1, { sentiment: 'POSITIVE' })]),
  ];
  for (const { key, body } of parts) await store.put(key, body);
  await store.put('scores/june/_summary.json', Buffer.from('{\n}'));
}

/** Creates three files with the same content in two FileSets, and one with other content. */
function repeatFiles({ state }: Sandbox): void {
  const content = { hash: 'ABCDEF0123', hashAlgorithm: 'MD5', size: 2_000 };
  const [first, second] = state.fileSets.map((set) => ({
    set,
    ids: set.rows().flatMap(({ id, hash }) => (hash === null ? [] : [id])),
  }));
  if (first === undefined || second === undefined) throw new Error('expected two FileSets');
  first.set.change(first.ids[0] ?? '', content);
  first.set.change(first.ids[1] ?? '', { ...content, hash: 'abcdef0123' });
  second.set.change(second.ids[0] ?? '', content);
  second.set.change(second.ids[1] ?? '', { ...content, size: 2_001 });
}

const sorted = (rows: Iterable<unknown>): readonly string[] =>
  [...rows].map((row) => canonicalJson(row)).sort();

describe('the tables of the latest run', () => {
  test('have exactly the calculations of that run, with all digits of their ids', async () => {
    const rows = await rowsOf('SELECT id, name FROM calculations');

    const ids = [...now.calculations.keys()];
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(ids.some((id) => BigInt(id) > 2n ** 53n)).toBe(true);
  });

  test('have every field of a file, a card and a data file as it was sent', async () => {
    const [file] = await rowsOf("SELECT * FROM files WHERE hash = 'abcdef0123'");
    const [card] = await rowsOf('SELECT * FROM cards ORDER BY id LIMIT 1');
    const [dataFile] = await rowsOf('SELECT * FROM data_files ORDER BY datafileid LIMIT 1');

    expect(asRead(file)).toMatchObject(asRead(now.files.get(`${file?.['_filesetid']} ${file?.['id']}`)));
    expect(asRead(card)).toMatchObject(asRead(now.cards.get(`${card?.['datasourceid']} ${card?.['id']}`)));
    expect(asRead(dataFile?.['revisions'])).toMatchObject(
      asRead(sandbox.state.dataFile(remainingDataFiles[0] ?? '')?.revisions),
    );
    expect(dataFile?.['currentrevision']).not.toBeNull();
  });
});

/** Converts a record to the form that SQL returns: names in lower case, and all numbers as text. */
function asRead(value: unknown): never {
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'number') return String(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name.toLowerCase(), each]));
  });
  return JSON.parse(text) as never;
}

test('large-and-duplicate-files finds files of 1 GiB, and files with the same content', async () => {
  const rows = await saved('large-and-duplicate-files');

  const repeated = (row: Truth) =>
    String(row['hash']).toLowerCase() === 'abcdef0123' && row['size'] === 2_000;
  const expected = [...now.files].flatMap(([key, row]) => {
    const size = Number(row['size']);
    if (size < 2 ** 30 && !repeated(row)) return [];
    const copies = repeated(row) ? 3 : 1;
    const file = { fileset: key.split(' ')[0], path: row['path'], hash: row['hash'] };
    return [{ ...file, size, copies, repeated_bytes: size * (copies - 1) }];
  });
  expect(sorted(rows)).toEqual(sorted(expected));
  expect(rows.filter(({ copies }) => copies === 3)).toHaveLength(3);
  expect(rows.length).toBeGreaterThan(3);
});

describe('changes in SQL', () => {
  type Records = ReadonlyMap<string, Truth>;

  /** The differences between two states of the sandbox: the change, the key and the fields that differ. */
  const between = (old: Records, latest: Records) =>
    [...new Set([...old.keys(), ...latest.keys()])].flatMap((name) => {
      const key = name.replace(' ', '/');
      const [was, is] = [old.get(name), latest.get(name)];
      if (was === undefined) return [['added', key, '']];
      if (is === undefined) return [['removed', key, '']];
      const names = Object.keys(is).filter((each) => canonicalJson(was[each]) !== canonicalJson(is[each]));
      return names.length === 0 ? [] : [['changed', key, names.toSorted().join(', ')]];
    });

  const ofDay = (days: number, changes: readonly (readonly unknown[])[]) =>
    changes.map((change) => [dayOf(days), ...change]);

  const partial = (records: Records, requested: ReadonlySet<string>) =>
    new Map([...records].filter(([name]) => requested.has(name.split(' ')[0] ?? '')));

  function expectedOf(source: 'calculations' | 'files' | 'cards') {
    const [, second, third, fourth] = truths.map((truth): Records => truth[source]);
    if (second === undefined || third === undefined || fourth === undefined) throw new Error('four rounds');
    const datasets = new Set(sandbox.state.datasets.slice(0, 6).map(({ id }) => id));
    const before = source === 'cards' ? partial(second, datasets) : second;
    return [...ofDay(6, between(before, third)), ...ofDay(1, between(third, fourth))];
  }

  let ofWeek: Awaited<ReturnType<typeof saved>>;

  beforeAll(async () => {
    ofWeek = await saved('what-changed-this-week');
  });

  test.each(['calculations', 'files', 'cards'] as const)(
    'of the week in what-changed-this-week include the changed %s of both runs',
    (source) => {
      const rows = ofWeek.filter(({ place }) => place === source || place === `${source}.rounds`);

      const expected = expectedOf(source);
      expect(sorted(rows.map(({ dt, change, key, fields }) => [dt, change, key, fields]))).toEqual(
        sorted(expected),
      );
      expect(expected.length).toBeGreaterThan(0);
    },
  );

  test('of the week have readable names, even for removed records', () => {
    expect(ofWeek.filter(({ name }) => name === null)).toEqual([]);
    expect(ofWeek.filter(({ place, change }) => place === 'data-files' && change === 'removed')).toHaveLength(
      2,
    );
  });

  test('of 90 days are counted by changes-by-day', async () => {
    const rows = await saved('changes-by-day');

    const ofLast = rows.filter(({ dt, place }) => dt === dayOf(1) && place === 'calculations');
    const expected = expectedOf('calculations').filter(([dt]) => dt === dayOf(1));
    expect(ofLast.map(({ change, records }) => [change, Number(records)])).toEqual(
      ['added', 'changed', 'removed'].map((kind) => [
        kind,
        expected.filter(([, change]) => change === kind).length,
      ]),
    );
    expect(new Set(rows.map(({ dt }) => dt))).toEqual(new Set([dayOf(1), dayOf(6), dayOf(9)]));
  });
});

test.each([
  ['1. Copy everything, and see what changed', 'what-changed-this-week'],
  ['2. Find out what uses a dataset', 'what-uses-datasets'],
  ['3. Score a file of texts', 'sentiment-by-topic-and-week'],
  ['4. Run a function for each row of a CSV', 'results-of-functions'],
  ['5. Change formulas, and undo the changes', 'formulas-we-set'],
  ['6. List what to clean up, by owner', 'cleanup-by-owner'],
])('the task in README “%s” has a saved query', async (task, name) => {
  expect(readFileSync('README.md', 'utf8')).toContain(`\n### ${task}\n`);

  expect((await saved(name)).length).toBeGreaterThan(0);
});

test('formulas-we-set has each formula with the previous one', async () => {
  const rows = await saved('formulas-we-set');

  expect(rows.map((row) => [row['calculation_id'], row['formula_before'], row['expression']])).toEqual([
    ['1008', null, 'MAX(1)'],
    ['1008', 'MAX(1)', 'SUM(1)'],
  ]);
});

test('calculations-not-touched finds calculations that no one changed for 90 days', async () => {
  const rows = await saved('calculations-not-touched');

  const old = [...now.calculations]
    .filter(([, { archived }]) => archived === false)
    .filter(([, { lastModified }]) => Number(lastModified) < Date.parse(`${dayOf(90)}T00:00:00Z`))
    .toSorted(
      ([a, one], [b, other]) =>
        Number(one['lastModified']) - Number(other['lastModified']) || (a < b ? -1 : 1),
    );
  expect(rows.map(({ id }) => id)).toEqual(old.map(([id]) => id));
  expect(old.length).toBeGreaterThan(0);
  expect(Number(rows[0]?.['days'])).toBeGreaterThan(90);
});

test('failed-and-unknown-jobs counts jobs by day, type and kind of error', async () => {
  const rows = await saved('failed-and-unknown-jobs');

  expect(
    rows.map(({ dt, type, status, kind, jobs, example }) => [dt, type, status, kind, jobs, example]),
  ).toEqual([
    [dayOf(1), 'score', 'failed', 'cancelled', 1, 'May.chunk-00002'],
    [dayOf(1), 'update-formula', 'failed', 'status', 1, 'd'],
    [dayOf(2), 'run-function', 'failed', 'timeout', 2, '_b'],
    [dayOf(2), 'run-function', 'unknown', null, 1, 'C'],
  ]);
});

test('tokens-by-batch adds up the cost of the rows of a batch, scored by jobs or by a command', async () => {
  const rows = await saved('tokens-by-batch');

  expect(rows.map((row) => Object.values(row).map(String).join(' '))).toEqual([
    `May ${dayOf(8)} ${dayOf(1)} 2 1 5 0 0 50 5 55`,
    `june ${dayOf(1)} ${dayOf(1)} 1 0 1 0 0 10 1 11`,
    'by-command null null 1 0 1 0 0 10 1 11',
    'reviews-20261125T091500Z null null 1 0 1 0 0 10 1 11',
  ]);
});

test('sentiment-by-topic-and-week counts each sentiment of a topic, and of texts as a whole', async () => {
  const rows = await saved('sentiment-by-topic-and-week');

  const monday = (days: number) => {
    const day = new Date(daysAgo(days));
    return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
  };
  expect(sorted(rows.map((row) => Object.values(row).map(String).join(' ')))).toEqual(
    sorted([
      `${monday(8)} delivery negative 1`,
      `${monday(8)} delivery positive 1`,
      `${monday(8)} price not_applicable 1`,
      `${monday(8)} price very_negative 1`,
      `${monday(1)} delivery negative 1`,
      `${monday(1)} null negative 1`,
      'null null neutral 1',
      '2026-11-23 null positive 1',
    ]),
  );
});

test('most-negative-texts lists texts with most negative topics first, with the columns of their file', async () => {
  const rows = await saved('most-negative-texts');

  expect(
    rows.map(({ batch, line, negative, positive, negative_topics: topics }) => [
      batch,
      line,
      negative,
      positive,
      topics,
    ]),
  ).toEqual([
    ['May', 1, 2, 0, 'delivery, price'],
    ['May', 4, 1, 0, 'delivery'],
    ['june', 1, 1, 0, null],
  ]);
  expect(rows[0]?.['columns']).toEqual({ Channel: 'é' });
});

test('cards-without-owner finds cards with neither an owner of their own nor one in their list', async () => {
  const cards = [
    { id: 1, ownerId: 5 },
    { id: 2, owners: [{ id: 6 }] },
    { id: 3, ownerId: '', owners: [{ id: '' }, {}] },
    { id: 4, owners: [] },
    { id: 5 },
  ];
  const store = createMemoryStore();
  await publishLines(store, {
    place: 'cards',
    run: monday,
    lines: cards.map((card) => JSON.stringify(card)),
  });
  await using small = await openTables(store);

  expect((await saved('cards-without-owner', small)).map(({ id }) => id)).toEqual(['3', '4', '5']);
});

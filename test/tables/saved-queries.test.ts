import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { savedQueries } from '../../infra/saved-queries.ts';
import { glueTableOf, sources } from '../../lib/contract.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { createGlue, startGlue } from '../../lib/sandbox/aws/services/start-glue.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { gluePartitions } from '../../lib/snapshot/publish/glue-partitions.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { openQueryEngine, type QueryEngine, type Row } from './queries-engine.ts';
import { type TakenRun, type Truth, takeSnapshot, truthOf } from './queries-runs.ts';

const cleanUp = new AsyncDisposableStack();
let engine: QueryEngine;
let sandbox: Sandbox;
/** What the sandbox held a week before the last run, and at the time of that run. */
let before: ReturnType<typeof truthOf>;
let now: ReturnType<typeof truthOf>;
let remainingDataFiles: readonly string[];
let location: string;

/** Takes four rounds. The last is compared with that of the 13th, which is a week before it. */
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'queries-'));
  cleanUp.defer(() => rm(folder, { recursive: true }));
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
  const glue = cleanUp.use(
    await startGlue({
      database: 'sync',
      tables: Object.fromEntries(sources.map((source) => [glueTableOf(source), {}])),
    }),
  );
  const environment = {
    AWS_ENDPOINT_URL_GLUE: glue.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'sandbox',
    AWS_SECRET_ACCESS_KEY: 'sandbox',
  };
  const store = createDirectoryStore(folder);
  location = folder;
  const partitions = gluePartitions({ database: 'sync', location: store.location, environment });
  const runs = { sandbox, store, partitions };
  const { dataFileIds, datasets, fileSets } = sandbox.state;
  const datasetIds = datasets.map(({ id }) => id);
  const takeAll = async (run: TakenRun, cards: readonly string[], dataFiles: readonly string[]) => {
    const filesets = fileSets.map(({ id }) => id);
    await takeSnapshot(runs, { source: 'calculations' }, run);
    await takeSnapshot(runs, { source: 'files', filesets }, run);
    await takeSnapshot(runs, { source: 'cards', datasets: [...cards], drill: true }, run);
    await takeSnapshot(runs, { source: 'data-files', ids: [...dataFiles] }, run);
  };

  await takeAll({ at: '2026-11-09T06:00:00Z' }, datasetIds, dataFileIds);
  sandbox.churn(50);
  before = truthOf(sandbox);
  await takeAll(
    { at: '2026-11-13T06:00:00Z', compression: 'zstd' },
    datasetIds.slice(0, 6),
    dataFileIds.slice(0, 4),
  );
  sandbox.churn(80);
  await takeAll({ at: '2026-11-14T06:00:00Z' }, datasetIds, dataFileIds);
  sandbox.churn(60);
  repeatFiles(sandbox);
  now = truthOf(sandbox);
  remainingDataFiles = dataFileIds.slice(2);
  await takeAll({ at: '2026-11-20T07:00:00Z' }, datasetIds, remainingDataFiles);
  // Not in any table: a narrowed run, a refused one, and one that was never published.
  const later = { at: '2026-11-21T06:00:00Z' };
  await takeSnapshot(runs, { source: 'calculations', name: 'a', as: 'a' }, later);
  await takeSnapshot(runs, { source: 'calculations', name: 'a' }, { ...later, accept: false });
  await store.put(
    'calculations/dt=2026-11-22/run=20261122T060000Z-eeeeee/part-00000-0123456789ab.ndjson.gz',
    gzipSync('{"id":1}\n'),
  );
  engine = await openQueryEngine(glue);
}, 120_000);

afterAll(async () => {
  engine?.close();
  await cleanUp.disposeAsync();
});

/** Three files with the same content in two FileSets, and one with other content. */
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

type Link = {
  readonly resource: { readonly type: string; readonly id: string };
  readonly valid: string;
};
const linksOf = (calculation: Truth) => calculation['links'] as readonly Link[];

test('each saved query is tested here', () => {
  expect(savedQueries().map(({ name }) => name)).toEqual([
    'broken-references',
    'cards-by-dataset',
    'large-and-duplicate-files',
    'unused-calculations',
    'what-changed-this-week',
  ]);
});

describe('the views of the latest run', () => {
  test('hold every calculation of it with all digits of its id, and no other', async () => {
    const rows = await engine.run('SELECT id, name, dt FROM latest_calculations');

    const ids = [...now.calculations.keys()];
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(ids.some((id) => BigInt(id) > 2n ** 53n)).toBe(true);
    expect(new Set(rows.map(({ dt }) => dt))).toEqual(new Set(['2026-11-20']));
  });

  test('hold every field of a file, a card and a data file as it was sent', async () => {
    const [file] = await engine.run("SELECT * FROM latest_files WHERE hash = 'abcdef0123'");
    const [card] = await engine.run('SELECT * FROM latest_cards ORDER BY id LIMIT 1');
    const [dataFile] = await engine.run('SELECT * FROM latest_data_files ORDER BY datafileid LIMIT 1');

    expect(file).toMatchObject(asRead(now.files.get(`${file?.['_filesetId']} ${file?.['id']}`)));
    expect(card).toMatchObject(asRead(now.cards.get(`${card?.['datasourceId']} ${card?.['id']}`)));
    expect(dataFile?.['revisions']).toMatchObject(
      asRead(sandbox.state.dataFile(remainingDataFiles[0] ?? '')?.revisions),
    );
    expect(dataFile?.['currentRevision']).not.toBeNull();
  });

  test('the tables hold all four published runs', async () => {
    const rows = await engine.run('SELECT DISTINCT dt FROM calculations ORDER BY dt');

    expect(rows.map(({ dt }) => dt)).toEqual(['2026-11-09', '2026-11-13', '2026-11-14', '2026-11-20']);
  });
});

/** DuckDB returns every number as text: a bigint would not fit JSON. */
function asRead(value: unknown): never {
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === 'number' ? String(part) : part));
  return JSON.parse(text) as never;
}

test('broken-references finds each link that is not valid, and calculations that are broken without one', async () => {
  const rows = await engine.saved('broken-references');

  const noLink = { resource: { type: null, id: null }, valid: null };
  const expected = [...now.calculations].flatMap(([id, calculation]) => {
    const broken = linksOf(calculation).filter(({ valid }) => valid !== 'VALID');
    const blamed = broken.length === 0 && calculation['status'] !== 'VALID' ? [noLink] : broken;
    return blamed.map(({ resource, valid }) => ({
      id,
      name: calculation['name'],
      owner: String(calculation['owner']),
      status: calculation['status'],
      archived: calculation['archived'],
      kind: resource.type,
      target: resource.id,
      validity: valid,
    }));
  });
  expect(sorted(rows)).toEqual(sorted(expected));
  expect(new Set(expected.map(({ validity }) => validity))).toEqual(
    new Set(['ILLEGAL_REFERENCE', 'INCOMPATIBLE_LINK', null]),
  );
});

test('unused-calculations finds those that neither a card nor another calculation uses', async () => {
  const rows = await engine.saved('unused-calculations');

  const referredTo = new Set(
    [...now.calculations].flatMap(([id, calculation]) =>
      linksOf(calculation)
        .filter(({ resource }) => resource.type === 'FUNCTION_TEMPLATE' && resource.id !== id)
        .map(({ resource }) => resource.id),
    ),
  );
  const onCard = (calculation: Truth) =>
    linksOf(calculation).some(({ resource }) => resource.type === 'CARD');
  const unused = [...now.calculations]
    .filter(([id, calculation]) => !onCard(calculation) && !referredTo.has(id))
    .filter(([, calculation]) => calculation['archived'] === false)
    .toSorted(([, a], [, b]) => Number(a['lastModified']) - Number(b['lastModified']));
  expect(rows.map(({ id }) => id)).toEqual(unused.map(([id]) => id));
  expect(referredTo.size).toBeGreaterThan(0);
  expect(unused.length).toBeGreaterThan(0);
});

test('cards-by-dataset counts the cards, the drills, the owners and the calculations of each dataset', async () => {
  const rows = await engine.saved('cards-by-dataset');

  const { datasets, cards } = sandbox.state;
  const expected = datasets.flatMap(({ id: dataset }, index) => {
    const own = cards.of(index);
    const calculations = [...now.calculations.values()].filter((calculation) =>
      linksOf(calculation).some(({ resource }) => resource.id === dataset),
    );
    const row = {
      dataset,
      cards: own.length,
      in_drills: own.filter(({ rootId }) => rootId !== undefined).length,
      without_access: own.filter(({ row }) => !row.access).length,
      owners: new Set(own.map(({ row }) => row.ownerId)).size,
      calculations: calculations.length,
    };
    return own.length === 0 ? [] : [row];
  });
  expect(sorted(rows)).toEqual(sorted(expected.map(asRead)));
  expect(rows.map(({ cards: count }) => Number(count))).toEqual(
    expected.map(({ cards: count }) => count).toSorted((a, b) => b - a),
  );
});

test('large-and-duplicate-files finds files of 1 GiB, and the same content in several places', async () => {
  const rows = await engine.saved('large-and-duplicate-files');

  const repeated = (row: Truth) =>
    String(row['hash']).toLowerCase() === 'abcdef0123' && row['size'] === 2_000;
  const expected = [...now.files].flatMap(([key, row]) => {
    const size = Number(row['size']);
    if (size < 2 ** 30 && !repeated(row)) return [];
    const copies = repeated(row) ? 3 : 1;
    const file = { fileset: key.split(' ')[0], path: row['path'], hash: row['hash'] };
    return [{ ...file, size, copies, repeated_bytes: size * (copies - 1) }];
  });
  expect(sorted(rows)).toEqual(sorted(expected.map(asRead)));
  expect(rows.filter(({ copies }) => copies === '3')).toHaveLength(3);
  expect(rows.length).toBeGreaterThan(3);
});

describe('what-changed-this-week', () => {
  let rows: readonly Row[];

  beforeAll(async () => {
    rows = await engine.saved('what-changed-this-week');
  });

  /** The rows of a source: the change, the key and the fields that differ. */
  const changesOf = (source: string) =>
    sorted(
      rows
        .filter((row) => row['source'] === source)
        .map(({ change, of_set, id, fields }) => [change, of_set, id, fields]),
    );

  /** The same, computed from two states of the sandbox. */
  const between = (old: ReadonlyMap<string, Truth>, latest: ReadonlyMap<string, Truth>) =>
    [...new Set([...old.keys(), ...latest.keys()])].flatMap((key) => {
      const [of_set, id] = key.includes(' ') ? key.split(' ') : [null, key];
      const [was, is] = [old.get(key), latest.get(key)];
      if (was === undefined) return [['added', of_set, id, null]];
      if (is === undefined) return [['removed', of_set, id, null]];
      const names = Object.keys(is).filter((name) => canonicalJson(was[name]) !== canonicalJson(is[name]));
      return names.length === 0 ? [] : [['changed', of_set, id, names.join(', ')]];
    });

  test('finds the calculations that were added, removed or changed since the run a week before', () => {
    const expected = between(before.calculations, now.calculations);

    expect(changesOf('calculations')).toEqual(sorted(expected));
    expect(new Set(expected.map(([change]) => change))).toEqual(new Set(['added', 'removed', 'changed']));
  });

  test('finds the files that were, by their FileSets', () => {
    const expected = between(before.files, now.files);

    expect(changesOf('files')).toEqual(sorted(expected));
    expect(new Set(expected.map(([change]) => change))).toEqual(new Set(['added', 'removed', 'changed']));
  });

  test('finds the cards of datasets that were not requested a week before', () => {
    const requested = new Set(sandbox.state.datasets.slice(0, 6).map(({ id }) => id));
    const old = new Map([...before.cards].filter(([key]) => requested.has(key.split(' ')[0] ?? '')));
    const expected = between(old, now.cards);

    expect(changesOf('cards')).toEqual(sorted(expected));
    expect(expected.length).toBeGreaterThan(0);
  });

  test('finds the data files that were added or removed', () => {
    const ids = sandbox.state.dataFileIds;

    expect(changesOf('data-files')).toEqual(
      sorted([
        ...ids.slice(0, 2).map((id) => ['removed', null, id, null]),
        ...ids.slice(4).map((id) => ['added', null, id, null]),
      ]),
    );
  });
});

test('a card counts for the dataset that it was listed for, even if it names another', async () => {
  const cards = join(location, 'by-hand/');
  const glue = createGlue({ database: 'sync', tables: { cards: {} } });
  const input = { Values: ['2026-11-20', '20261120T060000Z-aaaaaa'], StorageDescriptor: { Location: cards } };
  const body = { DatabaseName: 'sync', TableName: 'cards', PartitionInput: input };
  glue.respond({ operation: 'CreatePartition', body });
  await mkdir(cards);
  await writeFile(
    join(cards, 'part-00000.ndjson.gz'),
    gzipSync('{"_datasetId":"listed","id":1,"datasourceId":"own"}\n{"id":2,"datasourceId":"own"}\n'),
  );
  const small = await openQueryEngine(glue);
  cleanUp.defer(() => small.close());

  const rows = await small.saved('cards-by-dataset');

  expect(rows).toMatchObject([
    { dataset: 'listed', cards: '1' },
    { dataset: 'own', cards: '1' },
  ]);
});

test('every query returns nothing if the tables hold no run', async () => {
  const empty = await openQueryEngine(createGlue({ database: 'sync', tables: {} }));
  cleanUp.defer(() => empty.close());

  for (const { name } of savedQueries()) await expect(empty.saved(name)).resolves.toEqual([]);
});

import { expect, test } from 'vitest';
import { latestKey } from '../../../lib/snapshot/keys.ts';
import { StoreError } from '../../../lib/store/error.ts';
import { monday, publishLines, tuesday, wednesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { collect, given, storeOf } from './collect.ts';

const keysOf = (store: MemoryStore, part: string) =>
  [...store.objects.keys()].filter((key) => key.includes(part));

const CARDS = [{ id: 1, datasourceId: 'a' }];

test('an empty store yields an empty report, and no faults', async () => {
  const facts = await collect(createMemoryStore());

  expect(facts).toMatchObject({ snapshots: [], faults: [], platform: undefined });
  expect(facts).toMatchObject({ calculations: undefined, cards: undefined, datasets: undefined });
});

test.each(['missing', 'altered'])(
  'a part that is %s is named, and the report shows snapshots, but no records',
  async (how) => {
    const store = await storeOf({ calculations: ['{"id":1}', '{"id":2}'], cards: CARDS });
    const before = await collect(store);
    const [part = ''] = keysOf(store, 'cards/dt=').filter((key) => key.includes('/part-'));
    for (const key of [...keysOf(store, 'model/'), ...keysOf(store, 'parquet/'), part])
      store.objects.delete(key);
    if (how === 'altered') store.objects.set(part, Buffer.from('x'));

    const { calculations, cards, snapshots, faults } = await collect(store);

    expect(before.calculations?.list.columns.id).toEqual(['1', '2']);
    expect([calculations, cards]).toEqual([undefined, undefined]);
    expect(snapshots.map(({ place }) => place)).toEqual(['calculations', 'cards']);
    expect(faults).toEqual([expect.stringMatching(/^cards.*part-00000/)]);
    expect(keysOf(store, 'model/')).toEqual([]);
  },
);

test('a line of a part is not counted if it is not an object', async () => {
  const { calculations, faults } = await collect(
    await storeOf({ calculations: ['{"id":1}', '[1]', '{"id":2}'] }),
  );

  expect(calculations?.list.columns.id).toEqual(['1', '2']);
  expect(faults).toEqual([]);
});

test.each(['{', '{"run":1}', 'null'])('a damaged latest.json (%s) hides only its own place', async (body) => {
  const store = await storeOf({ calculations: ['{"id":1}'], cards: CARDS });
  await store.put(latestKey('calculations'), Buffer.from(body));

  const { calculations, cards, faults } = await collect(store);

  expect(calculations).toBeUndefined();
  expect(given(cards).total).toBe(1);
  expect(faults).toEqual([expect.stringMatching(/^calculations: calculations\/latest.json is not/)]);
});

test('a damaged manifest of an earlier run is omitted from the history', async () => {
  const store = createMemoryStore();
  for (const run of [monday, tuesday, wednesday]) await publishLines(store, { run, lines: ['{"id":1}'] });
  const [manifest = ''] = keysOf(store, `${tuesday.id}/_manifest`);
  await store.put(manifest, Buffer.from('{}'));

  const { snapshots, faults } = await collect(store);

  expect(snapshots[0]?.history.map(({ run }) => run)).toEqual([monday.id, wednesday.id]);
  expect(faults).toEqual([expect.stringContaining(tuesday.id)]);
});

test('changes that have expired are reported as expired', async () => {
  const store = createMemoryStore();
  const changes = { against: monday.id, added: 1, removed: 0, changed: 0, key: 'changes/gone' };
  await publishLines(store, { run: wednesday, lines: ['{"id":1}'], manifest: { changes } });

  const { snapshots, faults } = await collect(store);

  expect(snapshots[0]?.changes).toBeUndefined();
  expect(snapshots[0]?.history[0]).toMatchObject({ added: 1 });
  expect(faults).toEqual([`calculations: the changes of run ${wednesday.id} have expired`]);
});

test('the error of an unavailable store or of an abort is thrown', async () => {
  const store = await storeOf({ calculations: ['{"id":1}'] });
  const unavailable = new StoreError('get x', { kind: 'unreachable', code: 'ECONNREFUSED' });
  const stream = () => Promise.reject(unavailable);

  await expect(collect({ ...store, stream })).rejects.toBe(unavailable);
  await expect(collect(store, undefined, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
});

test('records of any shape and size are counted, in bounded memory', async () => {
  const long = 'n'.repeat(1_000_000);
  const links = Array.from({ length: 10_000 }, (_, at) => ({
    resource: { type: 'CARD', id: `${at}:1` },
    valid: 'no',
  }));
  const odd = {
    id: '0007',
    name: 7,
    owner: {},
    status: [],
    links: { a: 1 },
    activeLinks: [['x']],
    lastModified: '2026-13-45',
  };
  const store = await storeOf({
    calculations: [
      { id: 1, name: long, status: long, owner: long, links },
      odd,
      {},
      { id: null, links: [null, 3, {}] },
    ],
    cards: [
      { id: '12345678901234567890', title: long, owners: [null, { displayName: long }], datasourceId: long },
      {},
    ],
    files: [
      { _filesetId: 'f', id: 'a', path: `${long}💥`, size: 12 },
      { size: -1, fileType: 3 },
    ],
    'data-files': [
      { dataFileId: 3, name: long, currentRevision: { scanState: 'clean', sizeBytes: 9 } },
      { dataFileId: 4, currentRevision: 'x' },
    ],
  });

  const facts = await collect(store);

  expect(facts.faults).toEqual([]);
  expect(facts.calculations).toMatchObject({ total: 2, brokenLinks: 10_000 });
  expect(facts.calculations?.links.values).toEqual([['no', 10_000]]);
  expect(facts.calculations?.list.columns.id).toEqual(['1', '7']);
  expect(facts.cards?.list.columns.id).toEqual(['12345678901234567890']);
  expect(facts.graph.user).toHaveLength(10_001);
  expect(facts.files).toMatchObject({ total: 2, bytes: 12, list: { columns: { size: [12, null] } } });
  expect(facts.dataFiles?.list.columns).toMatchObject({ scan: ['clean', 'unknown'], size: [9, null] });
  expect(facts.dataFiles?.age).toContainEqual(['unknown', 2]);
  expect(JSON.stringify({ ...facts, graph: undefined }).length).toBeLessThan(10_000);
});

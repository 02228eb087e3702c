import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../../lib/snapshot/keys.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { publishRun, readFinishedRun } from '../../../lib/snapshot/publish/publish.ts';
import type { GateName } from '../../../lib/snapshot/scan.ts';
import type { Store } from '../../../lib/store/store.ts';
import { beforeFirst } from '../../store/before.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import type { FinishedRun } from '../published-manifest.ts';
import { finishedRun, monday, publishFinished, storeWorkPart, tuesday, wednesday } from './finished-run.ts';

const store = storeOfEach();

const publish = (run: Run, differences: Partial<FinishedRun> = {}, force = false, to: Store = store) =>
  publishFinished(store, run, { store: to, differences, force });

test('a finished run is copied to its folder, described by its manifest, and named by latest.json', async () => {
  const publication = await publish(monday);

  const latest = await readLatest(store, 'calculations');
  const folderOfRun = 'calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/';
  const { key = '', sha256 = '' } = publication.manifest.parts[0] ?? {};
  const part = await store.get(key);
  expect(publication).toMatchObject({ kind: 'published', key: `${folderOfRun}_manifest.json` });
  expect(publication.manifest).toMatchObject({
    publishable: true,
    refused: [],
    forced: false,
    changes: null,
  });
  expect(key).toBe(`${folderOfRun}part-00000-${sha256.slice(0, 12)}.ndjson.gz`);
  expect(latest).toMatchObject({
    run: monday.id,
    manifest: `${folderOfRun}_manifest.json`,
    startedAt: monday.startedAt,
  });
  // The file is one line, since readers of JSON lines meet it beside the runs.
  expect(String(store.objects.get('calculations/latest.json')).match(/\n/g)).toHaveLength(1);
  expect(gunzipSync(part?.body ?? Buffer.alloc(0)).toString()).toBe(
    '{"id":1,"name":"of 20261116T090000Z-aaaaaa"}\n',
  );
});

test('the caller’s signal ends a wait for latest.json', async () => {
  const controller = new AbortController();
  const put: Store['put'] = async (key, body, options) => {
    if (key !== 'calculations/latest.json') return await store.put(key, body, options);
    controller.abort(new Error('enough'));
    options?.signal?.throwIfAborted();
    throw new Error('waits for ever');
  };

  const publication = publishRun({
    store: { ...store, put },
    source: 'calculations',
    run: monday,
    finished: await finishedRun(store, monday, {}),
    force: false,
    signal: controller.signal,
  });

  await expect(publication).rejects.toThrow('enough');
});

test('a run after the first has its changes against the previous one', async () => {
  await publish(monday);

  const { manifest } = await publish(tuesday);

  const key = manifest.changes?.key ?? '';
  const stored = await store.get(key);
  expect(key).toMatch(
    /^changes\/calculations\/dt=2026-11-17\/run=20261117T090000Z-bbbbbb\/against=20261116T090000Z-aaaaaa-[0-9a-f]{8}\/part\.ndjson\.gz$/,
  );
  const change = JSON.parse(gunzipSync(stored?.body ?? Buffer.alloc(0)).toString());
  expect(manifest.changes).toEqual({ against: monday.id, added: 0, removed: 0, changed: 1, key });
  expect(change).toEqual({
    change: 'changed',
    key: '1',
    before: { id: 1, name: `of ${monday.id}` },
    after: { id: 1, name: `of ${tuesday.id}` },
    fields: ['name'],
  });
});

test('publishing a published run again changes nothing', async () => {
  const first = await publish(monday);

  const again = await publish(monday);

  expect(again).toEqual(first);
});

test('a refused run stays under work/, and the last one stays published', async () => {
  await publish(monday);

  const publication = await publish(tuesday, { records: 4 });

  expect(publication).toMatchObject({
    kind: 'refused',
    manifest: { publishable: false, refused: ['shrunk'], forced: false },
  });
  await expect(readLatest(store, 'calculations')).resolves.toMatchObject({ run: monday.id });
  await expect(store.get(`work/calculations/${tuesday.id}/_manifest.json`)).resolves.toBeDefined();
});

test('a run that is refused for its size lists the sizes of the last ten runs, newest first, without a damaged one', async () => {
  const at = (day: number): Run => ({
    id: `202610${day}T090000Z-aaaaaa`,
    startedAt: `2026-10-${day}T09:00:00.000Z`,
  });
  for (let day = 10; day < 22; day += 1) await publish(at(day), { records: 100 + day });
  store.objects.delete(`calculations/dt=2026-10-20/run=${at(20).id}/_manifest.json`);
  await store.put(`calculations/dt=2026-10-19/run=${at(19).id}/_manifest.json`, Buffer.from('{'));

  const { manifest } = await publishFinished(store, tuesday, {
    differences: { records: 90 },
    gates: { calculations: { shrunk: 0.8 } },
  });
  const { manifest: empty } = await publish(wednesday, { records: 0, parts: [] });
  const { manifest: ordinary } = await publishFinished(store, tuesday, {
    differences: { records: 90 },
    gates: { calculations: { shrunk: null } },
  });

  const lastSizes = [121, 118, 117, 116, 115, 114, 113, 112, 111, 110];
  expect(manifest).toMatchObject({ refused: ['shrunk'], minShare: 0.8, lastSizes });
  expect(empty).toMatchObject({ refused: ['empty'], lastSizes });
  expect(empty).not.toHaveProperty('minShare');
  expect(ordinary).toMatchObject({ refused: [], publishable: true });
  expect(ordinary).not.toHaveProperty('lastSizes');
});

test('a refused run can be published by force, and its manifest says so', async () => {
  await publish(monday);

  const publication = await publish(tuesday, { records: 4 }, true);

  expect(publication).toMatchObject({
    kind: 'published',
    manifest: { publishable: false, refused: ['shrunk'], forced: true },
  });
  await expect(readLatest(store, 'calculations')).resolves.toMatchObject({ run: tuesday.id });
});

test('a run that is published by force although nothing refuses it does not count as forced', async () => {
  const { manifest } = await publish(monday, {}, true);

  expect(manifest).toMatchObject({ publishable: true, refused: [], forced: false });
});

test.each<[string, Run, Partial<FinishedRun>]>([
  ['started earlier', monday, {}],
  ['started earlier, and was under way at the same time', monday, { begunAfter: null }],
  ['started at the same moment', { id: '20261117T090000Z-ffffff', startedAt: tuesday.startedAt }, {}],
])('latest.json never moves back to a run that %s, unless by force', async (_, run, differences) => {
  await publish(tuesday, differences);

  const late = await publish(run, differences);
  const latest = await readLatest(store, 'calculations');
  const forced = await publish(run, differences, true);

  expect(late).toMatchObject({ kind: 'superseded', latest: { run: tuesday.id } });
  expect(latest).toMatchObject({ run: tuesday.id });
  expect(forced).toMatchObject({ kind: 'published', manifest: { refused: ['superseded'], forced: true } });
});

test('a later run is judged again, against the one that another publisher published before latest.json moved', async () => {
  const interrupted = beforeFirst(
    store,
    'put',
    (key) => key === 'calculations/latest.json',
    () => publish(monday, { records: 100 }),
  );

  const publication = await publish(tuesday, {}, false, interrupted);

  expect(publication).toMatchObject({ kind: 'refused', manifest: { refused: ['shrunk'] } });
  expect(await readLatest(store, 'calculations')).toMatchObject({ run: monday.id, earlier: [] });
});

describe('if the published run is broken', () => {
  const named = async () => (await readLatest(store, 'calculations'))?.manifest ?? '';
  const folder = 'calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/';
  const part = () => [...store.objects.keys()].find((key) => key.startsWith(`${folder}part-`)) ?? '';

  test.each([
    [
      'latest.json',
      () => store.put('calculations/latest.json', Buffer.from('{"run": 7}')),
      'calculations/latest.json is not what platform-sync writes there',
    ],
    ['its manifest is missing', async () => store.delete(await named()), 'expected a manifest, got nothing'],
    [
      'its manifest is damaged',
      async () => store.put(await named(), Buffer.from('{')),
      '1 bytes that are not JSON',
    ],
    ['a part is missing', () => store.delete(part()), 'ndjson.gz: expected a part of'],
    ['a part is cut short', () => store.put(part(), Buffer.from('x')), 'bytes, got 1 bytes'],
    [
      'a part has other bytes',
      () => store.put(part(), Buffer.alloc(store.objects.get(part())?.byteLength ?? 0)),
      `${folder}part-00000-`,
    ],
  ])(
    '(%s), a run is refused and says what is broken, and --force publishes it uncompared',
    async (_name, damage, said) => {
      await publish(monday);
      await damage();

      const refused = await publish(tuesday);
      const forced = await publish(tuesday, {}, true);
      const next = await publish(wednesday);

      expect(refused).toMatchObject({ kind: 'refused', manifest: { refused: ['broken'] } });
      expect(refused.kind === 'refused' && refused.broken).toContain(said);
      expect(forced).toMatchObject({ kind: 'published', manifest: { forced: true, changes: null } });
      expect(next).toMatchObject({ kind: 'published', manifest: { changes: { against: tuesday.id } } });
    },
  );
});

test('a published part with other bytes is enough to refuse the next run', async () => {
  const partsOf = (run: Run) =>
    Promise.all([0, 1].map((at) => storeWorkPart(store, run, at, [`{"id":${at + 1},"name":"${run.id}"}`])));
  const { manifest } = await publish(monday, { parts: await partsOf(monday) });
  const { key = '', bytes = 0 } = manifest.parts[1] ?? {};
  await store.put(key, Buffer.alloc(bytes));

  const refused = await publish(tuesday, { parts: await partsOf(tuesday) });

  expect(refused).toMatchObject({ kind: 'refused', broken: expect.stringContaining(key) });
});

test('a published run that has lost a part is refused, and published again by force', async () => {
  const first = await publish(monday);
  await store.delete(first.manifest.parts[0]?.key ?? '');

  const refused = await publish(monday);
  const forced = await publish(monday, {}, true);

  expect(refused).toMatchObject({ kind: 'refused', manifest: { refused: ['broken'] } });
  expect(forced.kind).toBe('published');
  expect(store.objects.has(forced.manifest.parts[0]?.key ?? '')).toBe(true);
});

describe('accepted reasons', () => {
  const found: Partial<FinishedRun> = {
    records: 4,
    consistency: 'best-effort',
    scanRefused: ['incomplete'],
  };
  const publishAccepting = (accept: readonly GateName[], differences = found) =>
    publishFinished(store, tuesday, { differences, accept });

  test('do not refuse a run, and all other reasons do', async () => {
    await publish(monday);

    const refused = await publishAccepting(['shrunk', 'incomplete', 'type']);
    const published = await publishAccepting(['shrunk', 'incomplete', 'unproved']);

    expect(refused).toMatchObject({
      kind: 'refused',
      manifest: { publishable: false, refused: ['unproved'], accepted: ['shrunk', 'incomplete'] },
    });
    expect(published).toMatchObject({
      kind: 'published',
      manifest: { publishable: true, refused: [], accepted: ['shrunk', 'unproved', 'incomplete'] },
    });
  });

  test('do not affect the scan’s own reasons when a refused run is read again', async () => {
    await publish(monday);
    const differences: typeof found = { ...found, scanRefused: ['degraded', 'incomplete'] };
    await publishAccepting(['incomplete'], differences);
    await publish(wednesday, { records: 4 });

    const [refused, other] = await Promise.all(
      [tuesday, wednesday].map(({ id }) => readFinishedRun(store, 'calculations', id)),
    );
    expect(refused).toEqual(await finishedRun(store, tuesday, differences));
    expect(other?.scanRefused).toEqual([]);
  });
});

describe('of two concurrent runs, the one that began later is published last', () => {
  const ahead: Run = { id: '20261217T090000Z-ffffff', startedAt: '2026-12-17T09:00:00.000Z' };
  const publishUnder = (run: Run, begunAfter: string) =>
    publishFinished(store, run, { differences: { begunAfter }, now: () => Date.parse(ahead.startedAt) });

  test('although the other run’s clock is a month ahead, and that run ends later', async () => {
    await publish(monday);
    await publish(tuesday, { begunAfter: monday.id });
    await publish(wednesday, { begunAfter: tuesday.id });

    const late = await publishUnder(ahead, monday.id);

    expect(late).toMatchObject({ kind: 'superseded', latest: { run: wednesday.id } });
  });

  test('although the other run’s clock is a month ahead, and that run ends earlier', async () => {
    await publish(monday);
    await publish(tuesday, { begunAfter: monday.id });
    await publishUnder(ahead, monday.id);
    const next: Run = { id: '20261118T090000Z-dddddd', startedAt: '2026-11-18T09:00:00.000Z' };

    const late = await publish(next, { begunAfter: tuesday.id });

    expect(late).toMatchObject({ kind: 'published', manifest: { changes: { against: ahead.id } } });
  });

  test('even after latest.json was lost', async () => {
    await publish(monday);
    await publish(tuesday, { begunAfter: monday.id });
    await store.delete('calculations/latest.json');
    await publish(wednesday, { begunAfter: tuesday.id });

    const late = await publishUnder(ahead, monday.id);

    expect(late).toMatchObject({ kind: 'superseded', latest: { run: wednesday.id } });
  });
});

describe('a published run that is dated 2099', () => {
  const ahead: Run = { id: '20990101T000000Z-ffffff', startedAt: '2099-01-01T00:00:00.000Z' };
  const publishAhead = (differences: Partial<FinishedRun> = {}) =>
    publishFinished(store, ahead, { differences, now: () => Date.parse(ahead.startedAt) });

  test('is followed by the next one that began after it', async () => {
    await publishAhead();

    const next = await publish(tuesday, { begunAfter: ahead.id });

    expect(next).toMatchObject({ kind: 'published', manifest: { changes: { against: ahead.id } } });
  });

  test('is not replaced by a run that may have begun before it', async () => {
    await publish(monday);
    await publishAhead({ begunAfter: monday.id });

    const next = await publish(tuesday, { begunAfter: monday.id });

    expect(next).toMatchObject({ kind: 'superseded' });
  });

  test('cannot be published if the clock is right', async () => {
    const publication = await publish(ahead);

    expect(publication).toMatchObject({ kind: 'refused', manifest: { refused: ['future'] } });
  });
});

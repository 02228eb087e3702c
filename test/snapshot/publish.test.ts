import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readLatest } from '../../lib/snapshot/manifest.ts';
import { type FinishedRun, publishRun } from '../../lib/snapshot/publish.ts';
import type { Run } from '../../lib/snapshot/run-id.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import type { Store } from '../../lib/store/store.ts';

const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
const tuesday: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'publish-'));
  store = createDirectoryStore(folder);
});

afterEach(() => rm(folder, { recursive: true }));

/** A run whose one part lies in its work folder. */
async function finishedRun(run: Run, differences: Partial<FinishedRun> = {}): Promise<FinishedRun> {
  const key = `work/calculations/${run.id}/part-00000-0123456789ab.ndjson.gz`;
  await store.put(key, Buffer.from(`records of ${run.id}`));
  return {
    version: 1,
    source: 'calculations',
    run: run.id,
    selection: {},
    startedAt: run.startedAt,
    finishedAt: run.startedAt,
    platform: 'acme.example.com',
    records: 10,
    totals: { start: 10, end: 10 },
    consistency: 'proved',
    order: 'id',
    missing: [],
    parts: [{ key, records: 10, bytes: 9, sha256: '0123456789ab', firstKey: '1', lastKey: '10' }],
    fields: { id: ['number'] },
    calls: { requests: 2, retries: 0, throttled: 0, waitedMs: 0 },
    degraded: false,
    ...differences,
  };
}

const publish = async (run: Run, differences: Partial<FinishedRun> = {}, force = false, to: Store = store) =>
  publishRun({
    store: to,
    source: 'calculations',
    run,
    finished: await finishedRun(run, differences),
    force,
  });

test('a finished run is copied to its folder, told by its manifest, and named by latest.json', async () => {
  const publication = await publish(monday);

  const latest = await readLatest(store, 'calculations');
  const folderOfRun = 'calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/';
  const part = await store.get(`${folderOfRun}part-00000-0123456789ab.ndjson.gz`);
  expect(publication).toMatchObject({ kind: 'published', key: `${folderOfRun}_manifest.json` });
  expect(publication.manifest).toMatchObject({
    publishable: true,
    refused: [],
    forced: false,
    changes: null,
  });
  expect(publication.manifest.parts[0]?.key).toBe(`${folderOfRun}part-00000-0123456789ab.ndjson.gz`);
  expect(latest).toMatchObject({
    run: monday.id,
    manifest: `${folderOfRun}_manifest.json`,
    startedAt: monday.startedAt,
  });
  expect(part?.body.toString()).toBe('records of 20261116T090000Z-aaaaaa');
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

test('a refused run is published by force, and its manifest says so', async () => {
  await publish(monday);

  const publication = await publish(tuesday, { records: 4 }, true);

  expect(publication).toMatchObject({
    kind: 'published',
    manifest: { publishable: false, refused: ['shrunk'], forced: true },
  });
  await expect(readLatest(store, 'calculations')).resolves.toMatchObject({ run: tuesday.id });
});

test('latest.json never goes back to a run that started earlier', async () => {
  await publish(tuesday);

  const publication = await publish(monday);

  expect(publication).toMatchObject({ kind: 'superseded', latest: { run: tuesday.id } });
  await expect(readLatest(store, 'calculations')).resolves.toMatchObject({ run: tuesday.id });
});

describe('with another publisher between the reading and the moving of latest.json', () => {
  /** A store in which something happens just before the first conditional put. */
  function interrupted(happens: () => Promise<unknown>): Store {
    let pending = true;
    return {
      ...store,
      async put(key, body, options) {
        if (options?.condition !== undefined && pending) {
          pending = false;
          await happens();
        }
        return store.put(key, body, options);
      },
    };
  }

  test('an earlier run gives way to the later one', async () => {
    const publication = await publish(
      monday,
      {},
      false,
      interrupted(() => publish(tuesday)),
    );

    expect(publication.kind).toBe('superseded');
    await expect(readLatest(store, 'calculations')).resolves.toMatchObject({ run: tuesday.id });
  });

  test('a later run is judged again against the one that came between', async () => {
    const publication = await publish(
      tuesday,
      {},
      false,
      interrupted(() => publish(monday, { records: 100 })),
    );

    expect(publication).toMatchObject({ kind: 'refused', manifest: { refused: ['shrunk'] } });
    await expect(readLatest(store, 'calculations')).resolves.toMatchObject({ run: monday.id });
  });
});

test('a latest.json that is not ours is an error that names it', async () => {
  await store.put('calculations/latest.json', Buffer.from('{"run": 7}'));

  await expect(publish(monday)).rejects.toThrow(
    'calculations/latest.json is not what platform-sync writes there',
  );
});

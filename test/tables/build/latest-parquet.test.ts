import { beforeEach, expect, test, vi } from 'vitest';
import {
  latestKey,
  type Place,
  parquetFolder,
  publishedFolder,
  type Run,
} from '../../../lib/snapshot/keys.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { pointAtLatest } from '../../../lib/tables/build/runs-table.ts';
import { parquetIdOf, recordBuilt } from '../../../lib/tables/parquet/part-files.ts';
import { monday, tuesday } from '../../snapshot/publish/finished-run.ts';
import { publishedManifest } from '../../snapshot/published-manifest.ts';
import { beforeFirst } from '../../store/before.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

const wednesday = { id: '20261118T090000Z-cccccc', startedAt: '2026-11-18T09:00:00.000Z' };
const LIST = 'parquet/latest/calculations/symlink.txt';

let store: Store;

beforeEach(() => {
  store = { ...createMemoryStore(), location: 's3://bucket/sync' };
});

const filesOf = (run: Run, place: Place = 'calculations') =>
  [0, 1].map((at) => `s3://bucket/sync/${parquetFolder(place, run)}part-0000${at}.parquet\n`).join('');

/** Moves `latest.json` to a run of two parts, and builds Parquet for `made` of them. */
async function publish(run: Run, made = 2, place: Place = 'calculations'): Promise<void> {
  const keys = { firstKey: '', lastKey: '' };
  const parts = ['a', 'b'].map((sha256) => ({ key: sha256, records: 1, bytes: 1, sha256, ...keys }));
  const files = parts.slice(0, made).map((part) => ({
    of: parquetIdOf('calculations', part),
    ...{ records: 1, bytes: 1, sha256: part.sha256, other: 0 },
  }));
  await recordBuilt(store, place, run, files);
  const manifest = publishedManifest({ source: place, run: run.id, startedAt: run.startedAt, parts });
  const key = `${publishedFolder(place, run)}_manifest.json`;
  await store.put(key, printStored(manifest));
  await store.put(latestKey(place), printStored({ run: run.id, manifest: key, startedAt: run.startedAt }));
}

const listed = async () => String((await store.get(LIST))?.body);

test.each([
  ['since', 'put', LIST],
  ['before', 'get', latestKey('calculations')],
] as const)(
  'a process that was slow %s it read latest.json does not replace the list of a newer run with its own',
  async (_, operation, slowAt) => {
    await publish(monday);
    await pointAtLatest(store, 'calculations');
    await publish(tuesday);
    const overtakes = vi.fn(async () => {
      await publish(wednesday);
      await pointAtLatest(store, 'calculations');
    });

    await pointAtLatest(
      beforeFirst(store, operation, (key) => key === slowAt, overtakes),
      'calculations',
    );

    expect(overtakes).toHaveBeenCalledOnce();
    expect(await listed()).toBe(filesOf(wednesday));
  },
);

test('until all tables of the newest run are built, the list names the previous run', async () => {
  await publish(monday);
  await pointAtLatest(store, 'calculations');
  await publish(tuesday, 1);

  await pointAtLatest(store, 'calculations');

  expect(await listed()).toBe(filesOf(monday));
});

test('if a source has no whole run, the list has the runs of all narrowed places, once all of them are built', async () => {
  await publish(monday, 2, 'calculations.mine');
  await publish(monday, 1, 'calculations.yours');
  await pointAtLatest(store, 'calculations');
  expect(await store.get(LIST)).toBeUndefined();

  await publish(tuesday, 2, 'calculations.yours');
  await pointAtLatest(store, 'calculations');
  const [mine, yours] = [filesOf(monday, 'calculations.mine'), filesOf(tuesday, 'calculations.yours')];
  expect(await listed()).toBe(`${mine}${yours}`);

  await publish(wednesday);
  await pointAtLatest(store, 'calculations');
  expect(await listed()).toBe(filesOf(wednesday));
});

test('a store in a directory has no list of the latest run', async () => {
  store = { ...store, location: '/data' };
  await publish(monday);

  await pointAtLatest(store, 'calculations');

  expect(await store.get(LIST)).toBeUndefined();
});

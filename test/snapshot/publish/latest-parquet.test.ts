import { beforeEach, expect, test } from 'vitest';
import { latestKey } from '../../../lib/snapshot/keys.ts';
import type { Latest } from '../../../lib/snapshot/manifest.ts';
import { pointAtLatest } from '../../../lib/snapshot/publish/latest-parquet.ts';
import { storeManifest } from '../../../lib/snapshot/publish/manifest-key.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishedManifest } from '../published-manifest.ts';
import { monday, tuesday } from './finished-run.ts';

const wednesday = { id: '20261118T090000Z-cccccc', startedAt: '2026-11-18T09:00:00.000Z' };
const LIST = 'parquet/latest/calculations/symlink.txt';

let store: Store;

beforeEach(() => {
  store = { ...createMemoryStore(), location: 's3://bucket/sync' };
});

/** Moves `latest.json` to a run with one file of Parquet. */
async function publish(run: Run): Promise<void> {
  const part = { key: `parquet/${run.id}.parquet`, records: 1, bytes: 1, sha256: '0'.repeat(64), other: 0 };
  const parquet = { format: 'of now', parts: [part], other: 0 };
  const manifest = publishedManifest({ run: run.id, startedAt: run.startedAt, parquet });
  const key = await storeManifest(store, 'calculations', run, printStored(manifest));
  const latest: Latest = { run: run.id, manifest: key, startedAt: run.startedAt };
  await store.put(latestKey('calculations'), printStored(latest));
}

const listed = async () => String((await store.get(LIST))?.body);

test('a publisher that was slow since it read latest.json does not put its run over a newer one', async () => {
  await publish(monday);
  await pointAtLatest(store, 'calculations');
  await publish(tuesday);
  let isSlow = true;
  const slow: Store = {
    ...store,
    async put(key, ...put) {
      if (isSlow && key === LIST) {
        isSlow = false;
        await publish(wednesday);
        await pointAtLatest(store, 'calculations');
      }
      return store.put(key, ...put);
    },
  };

  await pointAtLatest(slow, 'calculations');

  expect(isSlow).toBe(false);
  expect(await listed()).toBe(`s3://bucket/sync/parquet/${wednesday.id}.parquet\n`);
});

test('a publisher that was slow before it read latest.json lists the newest run', async () => {
  await publish(monday);
  await pointAtLatest(store, 'calculations');
  let isSlow = true;
  const slow: Store = {
    ...store,
    async get(key, ...get) {
      if (isSlow && key === latestKey('calculations')) {
        isSlow = false;
        await publish(tuesday);
        await pointAtLatest(store, 'calculations');
      }
      return store.get(key, ...get);
    },
  };

  await pointAtLatest(slow, 'calculations');

  expect(await listed()).toBe(`s3://bucket/sync/parquet/${tuesday.id}.parquet\n`);
});

test('in a directory there is no list', async () => {
  store = { ...store, location: '/data' };
  await publish(monday);

  await pointAtLatest(store, 'calculations');

  expect(await store.get(LIST)).toBeUndefined();
});

import { describe, expect, test } from 'vitest';
import { publishedFolder, workFolder } from '../../../lib/snapshot/keys.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import {
  type PartsToWithdraw,
  seriesToPublish,
  withdrawParts,
} from '../../../lib/snapshot/publish/withdraw-parts.ts';
import { StoreError } from '../../../lib/store/error.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { publishedManifest } from '../published-manifest.ts';
import { run } from './work-parts.ts';

const FOLDER = publishedFolder('calculations', run);
const MARKERS = `${workFolder('calculations', run)}publish/withdrawn-`;

const partOf = (series: number, number = 0) =>
  `${FOLDER}part-0000${number}-0123456789ab${series === 1 ? '' : `-${series}`}.ndjson.gz`;

/** A store with these objects, and how to withdraw the parts of series 2 in it. */
async function storeWith(...keys: readonly string[]) {
  const store = createMemoryStore();
  for (const key of keys) await store.put(key, Buffer.from('{}'));
  const warnings: string[] = [];
  const withdraw = (differs: Partial<PartsToWithdraw> = {}) =>
    withdrawParts({
      store,
      place: 'calculations',
      run,
      series: 2,
      warn: (what) => warnings.push(what),
      ...differs,
    });
  return { store, withdraw, warnings };
}

const keysIn = ({ objects }: MemoryStore) => [...objects.keys()].sort();

describe('the series in which a run is published', () => {
  test('is the first as long as none was withdrawn', async () => {
    const { store } = await storeWith(`${MARKERS}x.json`, `${MARKERS}1.json.old`, `${MARKERS}1234567.json`);

    expect(await seriesToPublish(store, 'calculations', run)).toBe(1);
  });

  test('is the one after the last that was withdrawn', async () => {
    const { store } = await storeWith(`${MARKERS}2.json`, `${MARKERS}10.json`, `${MARKERS}3.json`);

    expect(await seriesToPublish(store, 'calculations', run)).toBe(11);
  });
});

describe('withdrawing', () => {
  test('records that, and deletes the parts of this series and those before it', async () => {
    const { store, withdraw } = await storeWith(partOf(1), partOf(2), partOf(3), `${FOLDER}notes.txt`);

    await withdraw();

    expect(keysIn(store)).toEqual([partOf(3), `${FOLDER}notes.txt`, `${MARKERS}2.json`].sort());
    expect(JSON.parse(String(store.objects.get(`${MARKERS}2.json`)))).toEqual({ withdrawn: 2 });
  });

  test('records nothing if there is nothing to delete', async () => {
    const { store, withdraw } = await storeWith(partOf(3));

    await withdraw();

    expect(keysIn(store)).toEqual([partOf(3)]);
  });

  test('deletes nothing while there is a manifest of another publication', async () => {
    const { store, withdraw } = await storeWith(`${FOLDER}_manifest.json`, partOf(2));
    const manifest = publishedManifest();

    await withdraw();
    await withdraw({ published: { key: `${FOLDER}_manifest-0a.json`, manifest } });

    expect(keysIn(store)).toEqual([`${FOLDER}_manifest.json`, partOf(2)].sort());
  });

  test('leaves the parts of the publication that latest.json names', async () => {
    const key = `${FOLDER}_manifest.json`;
    const { store, withdraw } = await storeWith(key, partOf(2), partOf(2, 1));
    const part: Part = {
      key: partOf(2, 1),
      records: 1,
      bytes: 2,
      sha256: 'abc',
      firstKey: '1',
      lastKey: '1',
    };

    await withdraw({ published: { key, manifest: publishedManifest({ parts: [part] }) } });

    expect(keysIn(store)).toEqual([key, partOf(2, 1), `${MARKERS}2.json`].sort());
  });

  test('costs a warning if the store refuses, and any other error is thrown', async () => {
    const { store, withdraw, warnings } = await storeWith(partOf(2));
    const failing = (error: Error): MemoryStore => ({ ...store, delete: () => Promise.reject(error) });

    await withdraw({ store: failing(new StoreError('delete', { kind: 'denied', code: 'AccessDenied' })) });
    await expect(withdraw({ store: failing(new TypeError('a fault')) })).rejects.toThrow('a fault');

    expect(warnings).toEqual([
      `parts of run ${run.id} of calculations that are in no manifest could not be deleted`,
    ]);
  });
});

import { expect, test } from 'vitest';
import { type RunToStore, storeRun } from '../../../lib/snapshot/publish/store-run.ts';
import { StoredObjectError } from '../../../lib/store/stored-json.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishedManifest } from '../published-manifest.ts';
import { run, storePart } from './work-parts.ts';

/** A run of one part. */
async function onePart() {
  const store = createMemoryStore();
  const part = await storePart(store, 0, [1]);
  const toStore: RunToStore = { store, source: 'calculations', run, series: 1, isOver: () => false };
  return { store, toStore, part, manifest: publishedManifest({ run: run.id, parts: [part] }) };
}

test('a run is not stored yet if the slice is over after a part', async () => {
  const { toStore, manifest } = await onePart();

  expect(await storeRun({ ...toStore, isOver: () => true }, manifest, undefined)).toBeUndefined();
  expect(await storeRun(toStore, manifest, undefined)).toMatchObject({ run: run.id });
});

test('a part elsewhere than in the work folder of the run is refused', async () => {
  const { store, toStore, part, manifest } = await onePart();
  const key = part.key.replace('work/', 'other/');
  await store.copy(part.key, key);

  const stored = storeRun(toStore, { ...manifest, parts: [{ ...part, key }] }, undefined);

  await expect(stored).rejects.toThrow(StoredObjectError);
  await expect(stored).rejects.toThrow('got one elsewhere');
});

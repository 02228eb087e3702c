import { expect, test } from 'vitest';
import { parsePart } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { textHashOf } from '../../../lib/jobs/texts/cache/score-cache.ts';
import { forget, forgetBatch } from '../../../lib/jobs/texts/forget.ts';
import type { OldVersion, Store } from '../../../lib/store/store.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { batchOf, runBatch, world } from './batch/batch-suite.ts';
import { row } from './fakes.ts';

/** A store in memory that keeps what is overwritten or deleted, like a bucket with versioning. */
function versionedStore() {
  const store = createMemoryStore();
  const old = new Set<{ readonly key: string; readonly body: Buffer }>();
  const retire = (key: string) => {
    const body = store.objects.get(key);
    if (body !== undefined) old.add({ key, body });
  };
  const put: Store['put'] = async (key, ...rest) => {
    retire(key);
    return store.put(key, ...rest);
  };
  const remove: Store['delete'] = async (key) => {
    retire(key);
    return store.delete(key);
  };
  async function* oldVersions(prefix: string): AsyncGenerator<OldVersion> {
    for (const version of [...old].filter(({ key }) => key.startsWith(prefix)))
      yield { key: version.key, read: async () => version.body, erase: async () => void old.delete(version) };
  }
  const texts = () =>
    [...old].map(({ key, body }) =>
      key.endsWith('.gz') ? JSON.stringify(parsePart(key, body)) : body.toString(),
    );
  return { ...store, put, delete: remove, oldVersions, texts };
}

const HASH = textHashOf('good 0');

async function scored() {
  const store = versionedStore();
  const one = world({ store });
  await runBatch(batchOf([row(1, 'good 0'), row(2, 'bad')]), one);
  await runBatch(batchOf([row(1, 'other')], { batch: 'b2' }), one);
  return { store, storage: one.storage };
}

test('old versions that have an erased text are deleted, even after an interrupted call', async () => {
  const { store, storage } = await scored();
  const oldVersions = () => {
    throw new Error('interrupted');
  };
  const interrupted = forget(
    { textHash: HASH },
    { ...storage, store: { ...store, oldVersions } },
    { environment: {} },
  );
  await expect(interrupted).rejects.toThrow('interrupted');
  const before = store.texts().join('\n');

  const erased = await forget({ textHash: HASH }, storage, { environment: {} });

  const after = store.texts().join('\n');
  expect(before).toContain('"good 0"');
  expect(before).toContain(HASH);
  expect(erased.oldVersions).toBe(2);
  expect(after).not.toContain('"good 0"');
  expect(after).not.toContain(HASH);
  expect(await forget({ textHash: HASH }, storage, { environment: {} })).toMatchObject({ oldVersions: 0 });
});

test('old versions without the erased text stay', async () => {
  const { store, storage } = await scored();
  await forgetBatch('b2', storage);
  const before = store.texts().filter((text) => !text.includes('good 0') && !text.includes(HASH));

  await forget({ textHash: HASH }, storage, { environment: {} });

  expect(before.length).toBeGreaterThan(1);
  expect(store.texts()).toEqual(expect.arrayContaining(before));
});

test('all old versions of an erased batch are deleted, and none of another batch', async () => {
  const { store, storage } = await scored();
  await forgetBatch('b1', storage);
  await store.put('scores/b2/_summary.json', Buffer.from('{}'));
  const others = store.texts().length;

  await forget({ batch: 'b1' }, storage, { environment: {} });

  expect(others).toBeGreaterThan(2);
  expect(store.texts().every((text) => text.includes('"b2"'))).toBe(true);
  expect(store.texts().length).toBeGreaterThan(0);
});

test('a store without versions has nothing to erase', async () => {
  expect(await forget({ batch: 'b1' }, world().storage, { environment: {} })).toMatchObject({
    oldVersions: 0,
  });
});

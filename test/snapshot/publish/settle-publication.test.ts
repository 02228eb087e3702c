import { beforeEach, expect, test } from 'vitest';
import { changesKey, workChangesKey } from '../../../lib/snapshot/keys.ts';
import { settlePublication } from '../../../lib/snapshot/publish/settle-publication.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { publishedManifest } from '../published-manifest.ts';
import { monday, tuesday } from './finished-run.ts';

const PUBLIC = changesKey('calculations', tuesday);
const STORED = workChangesKey('calculations', tuesday, monday.id);

let store: MemoryStore;

beforeEach(() => {
  store = createMemoryStore();
});

const settle = () =>
  settlePublication({
    store,
    place: 'calculations',
    latest: { run: tuesday.id, startedAt: tuesday.startedAt, manifest: 'key' },
    manifest: publishedManifest({ changes: { against: monday.id, added: 1, removed: 0, changed: 0 } }),
  });

test('the changes of what is published get their public key once', async () => {
  await store.put(STORED, Buffer.from('changes'));
  await settle();
  const first = store.objects.get(PUBLIC)?.toString();
  await store.put(STORED, Buffer.from('other'));

  await settle();

  expect(first).toBe('changes');
  expect(store.objects.get(PUBLIC)?.toString()).toBe('changes');
});

test('an object whose key only begins like theirs is not taken for them', async () => {
  await store.put(`${PUBLIC}.old`, Buffer.from('older'));
  await store.put(STORED, Buffer.from('changes'));

  await settle();

  expect(store.objects.get(PUBLIC)?.toString()).toBe('changes');
});

test('changes that work/ no longer holds are left out', async () => {
  await settle();

  expect([...store.objects.keys()]).toEqual([]);
});

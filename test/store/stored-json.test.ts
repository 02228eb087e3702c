import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { findStored, printStored, readStored } from '../../lib/store/stored-json.ts';
import { createMemoryStore } from '../snapshot/changes/memory-store.ts';

const schema = z.object({ run: z.string(), parts: z.array(z.object({ key: z.string() })) });
const expected = { what: 'a manifest', schema };

test('reads what was printed, with its etag', async () => {
  const store = createMemoryStore();
  const value = { run: '1', parts: [{ key: 'a' }] };
  await store.put('a.json', printStored(value));

  const stored = await readStored(store, 'a.json', expected);

  expect(stored).toEqual({ value, etag: expect.any(String) });
});

test('a missing object is undefined, or an error that names what was expected', async () => {
  const store = createMemoryStore();

  expect(await findStored(store, 'a.json', schema)).toBeUndefined();
  await expect(readStored(store, 'a.json', expected)).rejects.toMatchObject({
    name: 'StoredObjectError',
    kind: 'missing',
    message: `a.json in ${store.location}: expected a manifest, got nothing`,
  });
});

test('an object of another shape is reported with the wrong fields, and none of its content', async () => {
  const store = createMemoryStore();
  await store.put('a.json', printStored({ run: 7, parts: [{ key: 'a' }, { secret: 'a text' }] }));

  await expect(readStored(store, 'a.json', expected)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'a.json is not what platform-sync writes there (wrong: run, parts.1.key)',
  });
});

test('an object that is not JSON is reported with its size and not quoted', async () => {
  const store = createMemoryStore();
  await store.put('a.json', Buffer.from('a secret text'));

  await expect(findStored(store, 'a.json', schema)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'a.json is not what platform-sync writes there (13 bytes that are not JSON)',
  });
});

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { StoreError } from '../../lib/store/error.ts';
import {
  findStored,
  parseStored,
  printBounded,
  printStored,
  readStored,
  StoredObjectError,
  unlessDamaged,
} from '../../lib/store/stored-json.ts';
import { storeOfEach } from './store-of-each.ts';

const store = storeOfEach();

const schema = z.object({ run: z.string(), parts: z.array(z.object({ key: z.string() })) });
const expected = { what: 'a manifest', schema };

test('stored JSON is read as it was written, with its etag', async () => {
  const value = { run: '1', parts: [{ key: 'a' }] };
  await store.put('a.json', printStored(value));

  const stored = await readStored(store, 'a.json', expected);

  expect(stored).toEqual({ value, etag: expect.any(String) });
});

test('a missing object yields undefined, or an error that names what was expected', async () => {
  expect(await findStored(store, 'a.json', schema)).toBeUndefined();
  await expect(readStored(store, 'a.json', expected)).rejects.toMatchObject({
    name: 'StoredObjectError',
    kind: 'missing',
    message: `a.json in ${store.location}: expected a manifest, got nothing`,
  });
});

test('an object of another shape is reported with the wrong fields, and none of its content', async () => {
  await store.put('a.json', printStored({ run: 7, parts: [{ key: 'a' }, { secret: 'a text' }] }));

  await expect(readStored(store, 'a.json', expected)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'a.json is not what platform-sync writes there (wrong: run, parts.1.key)',
  });
});

test('an object that is not JSON is reported with its size and not quoted', async () => {
  await store.put('a.json', Buffer.from('a secret text'));

  await expect(findStored(store, 'a.json', schema)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'a.json is not what platform-sync writes there (13 bytes that are not JSON)',
  });
});

test('an object that exceeds the limit of its kind is not read: the key, the limit and its size are named', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'stored-'));
  const store = createDirectoryStore(folder.path);
  await store.put('a.json', printStored({ run: 'x'.repeat(100), parts: [] }));

  const read = readStored(store, 'a.json', { ...expected, maxBytes: 100 });

  await expect(read).rejects.toMatchObject({
    name: 'StoredObjectError',
    kind: 'invalid',
    message: 'a.json: expected at most 100 bytes, got 131',
  });
  expect(await readStored(store, 'a.json', { ...expected, maxBytes: 131 })).toBeDefined();
  expect(() => parseStored('a.json', Buffer.alloc(101), schema, 100)).toThrow(
    'a.json: expected at most 100 bytes, got 101',
  );
});

test('an object with more values than memory should hold is not parsed', async () => {
  await store.put('a.json', Buffer.from(`[${'0,'.repeat(3_000_000)}0]`));

  await expect(findStored(store, 'a.json', schema)).rejects.toMatchObject({
    kind: 'invalid',
    message:
      'a.json is not what platform-sync writes there (expected at most 3000000 values in a stored object, got more)',
  });
});

test('an object that is nested too deeply is not parsed', async () => {
  await store.put('a.json', Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`));

  await expect(findStored(store, 'a.json', schema)).rejects.toMatchObject({
    kind: 'invalid',
    message:
      'a.json is not what platform-sync writes there (expected at most 512 levels of nested arrays and objects, got more)',
  });
});

test('if an object has many faults, only the first 20 are listed', async () => {
  await store.put('a.json', printStored({ run: '1', parts: Array.from({ length: 10_000 }, () => 7) }));

  await expect(findStored(store, 'a.json', schema)).rejects.toThrow(
    /\(wrong: parts\.0, .{1,300}, parts\.19\)$/,
  );
});

test('an error of the store is rethrown', async () => {
  const denied = new StoreError('get a.json', { kind: 'denied', code: 'EACCES' });

  await expect(findStored({ get: () => Promise.reject(denied) }, 'a.json', schema)).rejects.toBe(denied);
});

test('a value that could not be read again is not written', () => {
  expect(printBounded('a.json', { ids: ['1', '2'] }, 36)).toEqual(printStored({ ids: ['1', '2'] }));
  expect(() => printBounded('a.json', { ids: ['1', '2'] }, 20)).toThrow(
    'a.json: expected at most 20 bytes, got 36',
  );
  expect(() => printBounded('a.json', Array(3_000_001).fill(0))).toThrow('at most 3000000 values');
});

test('damage is reported, and every error other than damage is thrown', async () => {
  const faults: string[] = [];
  const orFault = unlessDamaged((fault) => faults.push(fault));
  const denied = new StoreError('get a.json', { kind: 'denied', code: 'EACCES' });

  expect(orFault(new StoredObjectError('invalid', 'a.json is damaged'))).toBeUndefined();
  expect(() => orFault(denied)).toThrow(denied);

  expect(faults).toEqual(['a.json is damaged']);
});

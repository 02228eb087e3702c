import { expect, test } from 'vitest';
import type { Store, StoredObject } from '../../lib/store/store.ts';
import { ifUnchanged, updateObject } from '../../lib/store/update-object.ts';
import { beforeFirst } from './before.ts';
import { storeOfEach } from './store-of-each.ts';

const store = storeOfEach();
const KEY = 'a/object.json';
const added = (found: StoredObject | undefined) => Buffer.from(`${found?.body ?? ''}x`);
const text = async () => String((await store.get(KEY))?.body);

test('each of several concurrent writers adds to what the other writers have stored', async () => {
  const add = () => updateObject(store, KEY, added);

  expect(await Promise.all([add(), add(), add()])).toEqual([true, true, true]);

  expect(await text()).toBe('xxx');
});

test('an object that is most likely new is read only if it exists', async () => {
  const read: string[] = [];
  const watched: Store = {
    ...store,
    get: (key, options) => {
      read.push(key);
      return store.get(key, options);
    },
  };

  await updateObject(watched, KEY, added, { isNew: true });
  const afterTheFirst = [...read];
  await updateObject(watched, KEY, added, { isNew: true });

  expect([afterTheFirst, read]).toEqual([[], [KEY]]);
  expect(await text()).toBe('xx');
});

test('an object whose update is declined is not written, even after a lost race', async () => {
  const racing = beforeFirst(
    store,
    'put',
    () => true,
    () => store.put(KEY, Buffer.from('other')),
  );

  const isStored = await updateObject(racing, KEY, (found) => (found ? undefined : Buffer.from('own')));

  expect([isStored, await text()]).toEqual([false, 'other']);
});

test('a writer that loses 20 consecutive races fails as busy', async () => {
  const losing: Store = { ...store, put: async () => ({ kind: 'condition-failed' }) };

  await expect(updateObject(losing, KEY, added)).rejects.toMatchObject({ failure: { kind: 'busy' } });
});

test('an object is unchanged if its etag is the same, or if it is still missing', () => {
  expect([ifUnchanged('e'), ifUnchanged(undefined)]).toEqual([{ ifMatch: 'e' }, { ifAbsent: true }]);
});

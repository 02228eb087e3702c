import { describe, expect, test } from 'vitest';
import { brokenConditions } from '../../lib/cli/doctor/checks.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createMemoryStore } from '../store/memory-store.ts';

const KEY = 'work/doctor/1.json';
const folder = folderOfEach();

test('the check of write conditions finds no fault in a directory store, and leaves nothing behind', async () => {
  const store = await openStore(folder.path);

  expect(await brokenConditions(store, KEY)).toEqual([]);
  expect(await Array.fromAsync(store.list(''))).toEqual([]);
});

describe('the check reports a write condition that a store ignores:', () => {
  type Broken = (put: Store['put'], store: Store) => Store['put'];

  test.each<[string, readonly string[], Broken]>([
    [
      'any condition',
      [
        'If-None-Match of several writers at the same time',
        'If-None-Match on an existing object',
        'If-Match with the etag of the replaced object',
        'If-Match where there is no object',
      ],
      (put) => (key, body) => put(key, body),
    ],
    [
      'If-Match alone',
      ['If-Match with the etag of the replaced object', 'If-Match where there is no object'],
      (put) => (key, body, given) =>
        given?.condition && 'ifMatch' in given.condition ? put(key, body) : put(key, body, given),
    ],
    [
      'a condition that is checked some time before the write',
      ['If-None-Match of several writers at the same time'],
      (put, { get }) =>
        async (key, body, given = {}) => {
          const { condition } = given;
          const found = await get(key);
          if (condition && 'ifAbsent' in condition) {
            if (found) return { kind: 'condition-failed' };
            return put(key, body);
          }
          return put(key, body, given);
        },
    ],
    [
      'an object that If-Match creates',
      ['If-Match where there is no object'],
      (put, { get }) =>
        async (key, body, given) =>
          (await get(key)) === undefined && given?.condition && 'ifMatch' in given.condition
            ? put(key, body)
            : put(key, body, given),
    ],
    [
      'an etag that nothing matches',
      ['If-Match with the object’s own etag, which is refused'],
      (put) => async (key, body, given) =>
        given?.condition && 'ifMatch' in given.condition
          ? { kind: 'condition-failed' }
          : put(key, body, given),
    ],
  ])('%s', async (_, expected, broken) => {
    const memory = createMemoryStore();

    const found = await brokenConditions({ ...memory, put: broken(memory.put, memory) }, KEY);

    expect(found).toEqual(expected);
  });
});

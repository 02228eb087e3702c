import { expect, test } from 'vitest';
import { type StoredRow, updateRow } from '../../lib/table/table.ts';
import { createMemoryTable } from './memory-table.ts';

const key = { partition: 'p', sort: 's' };
const countIn = (found: StoredRow | undefined) => Number(found?.row['count'] ?? 0);

function tokens() {
  let made = 0;
  return () => {
    made += 1;
    return `token ${made}`;
  };
}

test('each of several concurrent writers adds to what the other writers have stored', async () => {
  const table = createMemoryTable();
  const newToken = tokens();
  const add = () =>
    updateRow(table, key, (found) => ({ count: countIn(found) + 1 }), { newToken, lifetimeMs: 1 });

  const stored = await Promise.all([add(), add(), add()]);

  expect(stored.map((row) => row?.count).toSorted()).toEqual([1, 2, 3]);
  expect((await table.get(key))?.row).toEqual({ count: 3 });
});

test('a row whose update is declined is not written', async () => {
  const table = createMemoryTable();
  await table.put(key, { count: 1 }, { expected: null, token: 'first' });

  expect(await updateRow(table, key, () => undefined, { newToken: tokens() })).toBeUndefined();

  expect(await table.get(key)).toEqual({ row: { count: 1 }, token: 'first' });
});

test('a writer that loses a race writes nothing if its own change is no longer needed', async () => {
  const table = createMemoryTable();
  const racing = {
    ...table,
    async get() {
      await table.put(key, { count: 9 }, { expected: null, token: 'other' });
      return undefined;
    },
  };
  const below9 = (found: StoredRow | undefined) => (countIn(found) < 9 ? { count: 1 } : undefined);

  expect(await updateRow(racing, key, below9, { newToken: tokens() })).toBeUndefined();

  expect((await table.get(key))?.row).toEqual({ count: 9 });
});

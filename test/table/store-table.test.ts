import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openTimedTable } from '../../lib/jobs/job-storage.ts';
import { StoreError } from '../../lib/store/error.ts';
import type { Store } from '../../lib/store/store.ts';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { NEW_LEDGER, tableCheckOf } from '../../lib/table/store-table.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { storeOfEach } from '../store/store-of-each.ts';

const store = storeOfEach();

const folder = folderOfEach();
afterEach(async () => {
  for (const name of ['a.db', 'b.db']) sqliteFile(join(folder.path, name)).close();
});

const file = (name: string) => `sqlite:${join(folder.path, name)}`;
const named = async (store: Store) => JSON.parse((await store.get('table.json'))?.body.toString() ?? 'null');
const key = { partition: 'job#a', sort: '-' };
const refused = { name: 'TableError', failure: { kind: 'bad-table' } };

/** Asks, as a new process would, whether a sender with this table may send; throws if not. */
const send = (store: Store, table: string, stack?: string) =>
  tableCheckOf(table, { SYNC_STACK: stack }, async () => store)();

test('the first sender names the table, and the same table may send from then on', async () => {
  await send(store, file('a.db'));
  await send(store, file('a.db'));

  expect(await named(store)).toEqual({
    version: 1,
    table: file('a.db'),
    id: expect.stringMatching(/^[\da-f-]{36}$/),
  });
});

test('nothing is sent with another ledger file, and the message names the right one', async () => {
  await send(store, file('a.db'));

  const sending = send(store, file('b.db'));

  await expect(sending).rejects.toMatchObject(refused);
  await expect(sending).rejects.toThrow(
    /recorded in table\.json: the file that was SYNC_TABLE=sqlite:.*a\.db when .* moved: docs\/restore\.md, "A store that moved"\. .*--new-ledger .*may be sent again/,
  );
  expect(await readdir(folder.path)).not.toContain('b.db');
});

test('nothing is sent with a ledger file that was deleted or emptied, and no new one is created', async () => {
  await send(store, file('a.db'));
  sqliteFile(join(folder.path, 'a.db')).close();

  await truncate(join(folder.path, 'a.db'));
  await expect(send(store, file('a.db'))).rejects.toThrow('got no file, or an empty file');
  await rm(join(folder.path, 'a.db'));
  await expect(send(store, file('a.db'))).rejects.toThrow('got no file, or an empty file');

  expect(
    (await readdir(folder.path)).filter((name) => name.startsWith('a.db') && !name.includes('-')),
  ).toEqual([]);
});

test('only its own table may send to a store that a stack writes to', async () => {
  await send(store, 'Acme-Table', 'acme');

  await send(store, 'Acme-Table');
  await expect(send(store, file('a.db'))).rejects.toThrow('of the stack acme');
  await expect(send(store, 'Other-Table')).rejects.toThrow(
    'recorded in table.json: the DynamoDB table SYNC_TABLE=Acme-Table of the stack acme (platform-sync env --stack NAME)',
  );
  expect(await readdir(folder.path)).toEqual([]);
});

test('a new file instead of the named one counts as another table', async () => {
  await send(store, file('a.db'));
  sqliteFile(join(folder.path, 'a.db')).close();
  await rm(join(folder.path, 'a.db'));
  await send(createMemoryStore(), file('a.db'));

  await expect(send(store, file('a.db'))).rejects.toThrow('got another ledger;');
});

test('a store that names no table takes the first one that sends', async () => {
  await send(store, file('a.db'));
  await store.delete('table.json');

  await send(store, file('b.db'));

  expect(await named(store)).toMatchObject({ table: file('b.db') });
  await expect(send(store, file('a.db'))).rejects.toMatchObject(refused);
});

test('a new ledger replaces the one that the store names', async () => {
  await send(store, file('a.db'));

  await tableCheckOf(file('b.db'), { [NEW_LEDGER]: '' }, async () => store)();

  await send(store, file('b.db'));
  await expect(send(store, file('a.db'))).rejects.toMatchObject(refused);
});

test.each([
  ['busy', 'TableError'],
  ['unreachable', 'TableError'],
  ['denied', 'StoreError'],
] as const)('a store that is %s causes a %s', async (kind, name) => {
  const unavailable = new StoreError('get', { kind, code: 'x' });

  const check = tableCheckOf(file('a.db'), {}, () => Promise.reject(unavailable));

  await expect(check()).rejects.toMatchObject({ name, failure: { kind } });
});

test('an invalid table.json is reported as such', async () => {
  await store.put('table.json', Buffer.from('{}'));

  await expect(send(store, file('a.db'))).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: expect.stringContaining('table.json'),
  });
});

describe('among the first processes that send,', () => {
  test('only one of two concurrent senders with different ledger files sends', async () => {
    for (let round = 0; round < 20; round += 1) {
      const both = await Promise.allSettled([send(store, file('a.db')), send(store, file('b.db'))]);

      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });

  test('two concurrent senders with the same ledger file both send', async () => {
    await Promise.all([send(store, file('a.db')), send(store, file('a.db'))]);
  });

  test('a sender that was killed after it had created its file leaves the choice of table to the next', async () => {
    const killed = { ...store, put: () => new Promise<never>(() => undefined) };
    void send(killed, file('a.db'));
    await expect.poll(() => readdir(folder.path)).toContain('a.db');

    await send(store, file('a.db'));

    expect(await named(store)).toMatchObject({ table: file('a.db') });
  });

  test('a sender whose response to the put was lost is the one that is named', async () => {
    const unavailable = new StoreError('put', { kind: 'unreachable', code: 'ECONNRESET' });
    let losses = 1;
    const lossy: Store = {
      ...store,
      async put(...given) {
        const put = await store.put(...given);
        losses -= 1;
        if (losses >= 0) throw unavailable;
        return put;
      },
    };
    const check = tableCheckOf(file('a.db'), {}, async () => lossy);

    await expect(check()).rejects.toMatchObject({ name: 'TableError', failure: { kind: 'unreachable' } });
    await check();

    await expect(send(store, file('b.db'))).rejects.toMatchObject(refused);
  });
});

test('a table stores nothing for a store that names another table, and can still be read', async () => {
  const environment = { SYNC_STORE: join(folder.path, 'store') };
  const { table } = await openTimedTable(file('a.db'), environment);
  const { table: other } = await openTimedTable(file('b.db'), environment);
  await table.put(key, {}, { expected: null, token: 't' });

  await expect(other.put(key, {}, { expected: null, token: 't' })).rejects.toMatchObject(refused);

  expect(await other.get(key)).toBeUndefined();
  expect(await readdir(folder.path)).not.toContain('b.db');
  expect(await readdir(environment.SYNC_STORE)).toContain('table.json');
});

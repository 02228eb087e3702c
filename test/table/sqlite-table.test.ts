import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { createSqliteTable } from '../../lib/table/sqlite-table.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createSqliteInMemory } from './sqlite-in-memory.ts';

const folder = folderOfEach();
const key = { partition: 'job#a', sort: '-' };
const held = { state: 'SENT', leaseUntilMs: 5_000, leaseEndsMs: 6_000 };

test('a lease lasts as long as its time, or until the process that wrote it ends', async () => {
  const open = createSqliteInMemory();
  const options = { leases: ['leaseUntilMs', 'leaseEndsMs'], now: () => 5_500, steady: () => 70 };
  const [one, other] = ['one', 'other'].map((name) =>
    createSqliteTable(open({ name, isAlive: true }), options),
  );
  await one?.put(key, held, { expected: null, token: 't1' });

  const whileAlive = await other?.get(key);
  open({ name: 'one', isAlive: false });

  expect(whileAlive?.row).toEqual(held);
  // A lease that was over by the clock is unchanged.
  expect((await other?.get(key))?.row).toEqual({ ...held, leaseEndsMs: 0 });
});

test.each([-31, 31])(
  'a clock that is set %i days off ends no lease of a living process, and extends none',
  async (days) => {
    const open = createSqliteInMemory();
    const clock = { ms: 5_500 };
    const options = { leases: ['leaseUntilMs'], now: () => clock.ms, steady: () => 70 };
    const [one, other] = ['one', 'other'].map((name) =>
      createSqliteTable(open({ name, isAlive: true }), options),
    );
    await one?.put(key, { leaseUntilMs: 6_000 }, { expected: null, token: 't1' });
    clock.ms += days * 86_400_000;

    const read = await other?.get(key);

    expect(read?.row).toEqual({ leaseUntilMs: clock.ms + 500 });
  },
);

test('a wrong clock deletes no row, whether the clock of the opening process or of the writing one', async () => {
  const open = () => sqliteFile(join(folder.path, 'a.db'));
  const put = (partition: string, lifetimeMs: number) =>
    createSqliteTable(open()).put({ partition, sort: '-' }, {}, { expected: null, token: 't1', lifetimeMs });
  await Promise.all([put('behind', 1), put('young', 3_600_000)]);
  open().close();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 800 * 86_400_000 });
  await put('ahead', 1);
  open().close();

  const rows = await Array.fromAsync(createSqliteTable(open()).scan(''));
  open().close();
  vi.useRealTimers();

  expect(rows.map(({ key: { partition } }) => partition)).toEqual(['ahead', 'behind', 'young']);
});

test.each([499, 500, 501, 1_001])('%i rows are listed and scanned, each once', async (count) => {
  const table = createSqliteTable(createSqliteInMemory()({ name: 'one', isAlive: true }));
  const sorts = Array.from({ length: count }, (_, index) => String(index).padStart(4, '0'));
  for (const sort of sorts) await table.put({ partition: 'p', sort }, {}, { expected: null, token: 't1' });

  const [listed, scanned] = [await Array.fromAsync(table.list('p')), await Array.fromAsync(table.scan(''))];

  expect(listed.map(({ key: { sort } }) => sort)).toEqual(sorts);
  expect(scanned).toEqual(listed);
});

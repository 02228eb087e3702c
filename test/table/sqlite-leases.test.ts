import { expect, test } from 'vitest';
import { createSqliteTable } from '../../lib/table/sqlite-table.ts';
import { createSqliteInMemory } from './sqlite-in-memory.ts';

const key = { partition: 'job#a', sort: '-' };
const held = { state: 'SENT', leaseUntilMs: 5_000, leaseEndsMs: 6_000 };

test('a lease lasts as long as its time, or the process that wrote it', async () => {
  const open = createSqliteInMemory();
  const options = { leases: ['leaseUntilMs', 'leaseEndsMs'], now: () => 5_500 };
  const [one, other] = ['one', 'other'].map((name) =>
    createSqliteTable(open({ name, isAlive: true }), options),
  );
  await one?.put(key, held, { expected: null, token: 't1' });

  const whileAlive = await other?.get(key);
  open({ name: 'one', isAlive: false });

  expect(whileAlive?.row).toEqual(held);
  // What is over by the clock stays as it was.
  expect((await other?.get(key))?.row).toEqual({ ...held, leaseEndsMs: 0 });
});

import { expect, test } from 'vitest';
import { monday, publishLines, tuesday } from '../snapshot/changes/publish-lines.ts';
import { storeOfEach } from '../store/store-of-each.ts';
import { runCommand } from './run-command.ts';

const store = storeOfEach();

async function tables(...argv: readonly string[]) {
  const { out, ...ended } = await runCommand(['tables', ...argv], { SYNC_STORE: './unused' }, '', {
    openStore: async () => store,
  });
  return { ...ended, out: out.split('\n') };
}

test('the command `tables` writes the Parquet files that are missing', async () => {
  await publishLines(store, { run: monday, lines: ['{"id":1}', '{"id":2,"odd":3}'] });

  const made = await tables();
  const again = await tables();

  expect([made.code, again.code]).toEqual([0, 0]);
  expect(made.out).toEqual([`calculations ${monday.id}: 1 file, 2 rows, 1 values in _other`]);
  expect(again.out).toEqual(['nothing is missing']);
});

test('the command `tables` builds only the tables of the given places, and names a damaged place', async () => {
  await publishLines(store, { run: monday, lines: ['{"id":1}'] });
  await publishLines(store, { run: tuesday, lines: ['no JSON'] });
  await publishLines(store, { place: 'calculations.mine', run: monday, lines: ['{"id":1}'] });

  const { code, out, err } = await tables('calculations', '--json');

  expect(code).toBe(3);
  expect(err).toBe('');
  expect(JSON.parse(out.join('\n'))).toMatchObject([
    {
      group: 'calculations',
      name: tuesday.id,
      kind: 'skipped',
      why: expect.stringContaining('expected a record as JSON'),
    },
    { group: 'calculations', name: monday.id, kind: 'made', files: 1, records: 1 },
  ]);
});

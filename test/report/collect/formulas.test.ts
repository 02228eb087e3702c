import { expect, test } from 'vitest';
import { storeImport } from '../../../lib/model/formulas/index.ts';
import { MAX_FORMULA_CHARACTERS } from '../../../lib/report/facts.ts';
import { collect, storeOf } from './collect.ts';

const records = [1, 2, 3].map((id) => ({ id, name: `C${id}` }));
const formula = (id: string, expression: string) => ({ id, expression, name: null, datasetIds: [] });
const atMs = Date.parse('2026-11-18T00:00:00Z');

test('the report has the known formulas, with the columns that they read', async () => {
  const store = await storeOf({ calculations: records });
  await storeImport(store, async () => [formula('1', 'SUM(`Net Sales`) / `b`'), formula('2', 'SUM(')], {
    atMs,
  });

  const { knownFormulas } = await collect(store);

  expect(knownFormulas).toEqual({
    total: 2,
    list: [
      { id: '1', expression: 'SUM(`Net Sales`) / `b`', columns: ['Net Sales', 'b'] },
      { id: '2', expression: 'SUM(', columns: [] },
    ],
  });
});

test('if formulas are too long for a page, the report has the first ones and the total number', async () => {
  const store = await storeOf({ calculations: records });
  const long = `'${'x'.repeat(MAX_FORMULA_CHARACTERS / 2)}'`;
  await storeImport(store, async () => ['1', '2', '3'].map((id) => formula(id, long)), { atMs });

  const { knownFormulas } = await collect(store);

  expect([knownFormulas.total, knownFormulas.list.map(({ id }) => id)]).toEqual([3, ['1']]);
});

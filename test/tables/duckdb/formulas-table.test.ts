import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeFormula, storeImport } from '../../../lib/model/formulas/index.ts';
import { openTables } from '../../../lib/tables/index.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

let opened: AsyncDisposableStack;
let rows: (sql: string) => Promise<readonly (readonly unknown[])[]>;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  const store = createMemoryStore();
  const link = { resource: { type: 'DATA_SOURCE', id: 'D-1' }, visible: true, valid: 'VALID' };
  const lines = [1, 2, 3].map((id) => JSON.stringify({ id, name: `C${id}`, links: [link] }));
  await publishLines(store, { place: 'calculations', run: monday, lines });
  const formula = (id: string, expression: string) => ({ id, expression, name: `F${id}`, datasetIds: [] });
  const atMs = Date.parse('2026-11-20T00:00:00Z');
  await storeImport(store, async () => [formula('1', 'SUM(`Net Sales`) + `b`'), formula('2', 'SUM(`x`')], {
    atMs,
  });
  await storeFormula(store, {
    calculationId: '3',
    expression: 'SERVICE_BEAST_MODE(1)',
    finishedAtMs: atMs,
    response: '{}',
  });
  const tables = opened.use(await openTables(store, {}));
  rows = async (sql) => (await tables.run(sql, { maxRows: 99 })).first;
});

afterEach(() => opened.disposeAsync());

test('the table of known formulas has the columns and functions that each uses, and its type', async () => {
  expect(
    await rows(
      'SELECT calculation_id, name, expression, status, data_type IS NULL, columns, functions, source, known_at FROM formulas ORDER BY 1',
    ),
  ).toEqual([
    [
      '1',
      'C1',
      'SUM(`Net Sales`) + `b`',
      'valid',
      false,
      ['Net Sales', 'b'],
      ['SERVICE_OP_ADD', 'SUM'],
      'import',
      expect.anything(),
    ],
    ['2', 'C2', 'SUM(`x`', 'invalid', true, [], [], 'import', expect.anything()],
    ['3', 'C3', 'SERVICE_BEAST_MODE(1)', 'valid', false, [], [], 'update', expect.anything()],
  ]);
  expect(await rows("SELECT calculation_id FROM formulas WHERE contains(columns, 'b')")).toEqual([['1']]);
});

test('the table of uses has the columns and calculations that each formula refers to', async () => {
  expect(
    await rows(
      "SELECT user_id, used_kind, used_id, relation FROM uses WHERE stated_by = 'formula' ORDER BY 1, 3",
    ),
  ).toEqual([
    ['1', 'column', 'd-1:b', 'reads'],
    ['1', 'column', 'd-1:net sales', 'reads'],
    ['3', 'calculation', '1', 'refers to'],
  ]);
  expect(await rows('SELECT id FROM calculations WHERE same_formula')).toEqual([]);
});

import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { checkedBy } from '../../../lib/base/inputs.ts';

const row = z.object({ id: z.number(), name: z.string(), at: z.number() });
const schema = z.object({ rows: z.array(row) });
const rows = (count: number, value: unknown) => ({ rows: Array.from({ length: count }, () => value) });
const good = { id: 1, name: 'a', at: 2 };

test('a valid value is returned, whatever its size', () => {
  expect(checkedBy(schema, rows(10_000, good))).toEqual({ success: true, data: rows(10_000, good) });
});

test('every fault of a small value is reported', () => {
  const { error } = checkedBy(schema, { rows: [{}, good, { ...good, id: 'x' }] });

  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([
    'rows.0.id',
    'rows.0.name',
    'rows.0.at',
    'rows.2.id',
  ]);
});

test.for([
  ['objects without members', rows(200_000, {})],
  ['values that are no objects', rows(400_000, 0)],
  ['a fault after many valid values', { rows: [...rows(50_000, good).rows, 7] }],
  ['an object of many members', { rows: Object.fromEntries(rows(100_000, 0).rows.entries()) }],
] as const)('for %s, only the first fault is reported', ([, value]) => {
  const { error } = checkedBy(schema, value);

  expect(error?.issues).toHaveLength(1);
});

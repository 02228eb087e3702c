import { expect, test } from 'vitest';
import { readWhere, whereSchema } from '../../../../lib/snapshot/sources/files/where.ts';

test.each([
  ['size:GREATER_THAN:1000', { field: 'size', operator: 'GREATER_THAN', value: ['1000'] }],
  ['fileType:in:TEXT,IMAGE', { field: 'fileType', operator: 'IN', value: ['TEXT', 'IMAGE'] }],
  ['name:EQUALS:a,b', { field: 'name', operator: 'EQUALS', value: ['a,b'] }],
  ['fileType:!EQUALS:TEXT', { field: 'fileType', operator: 'EQUALS', value: ['TEXT'], not: true }],
  ['hash:IS_NULL', { field: 'hash', operator: 'IS_NULL', value: [] }],
  ['hash:!is_null', { field: 'hash', operator: 'IS_NULL', value: [], not: true }],
  ['path:LIKE:C:\\new\nline', { field: 'path', operator: 'LIKE', value: ['C:\\new\nline'] }],
  ['name:EQUALS:', { field: 'name', operator: 'EQUALS', value: [''] }],
])('%j is a filter', (text, filter) => {
  expect(readWhere(text)).toEqual(filter);
});

test.each([
  '',
  'size',
  'size:EQUALS',
  ':EQUALS:1',
  ':size:EQUALS:1',
  'size::1',
  'size:=:1',
  'hash:IS_NULL:1',
  'hash:IS_NULL, size:EQUALS:1',
])('%j is not a filter', (text) => {
  expect(readWhere(text)).toBeUndefined();
});

test('the operator of a filter in a message may be in lower case', () => {
  const where = { field: 'hash', operator: 'is_null', value: [] };

  expect(whereSchema.parse(where)).toEqual({ ...where, operator: 'IS_NULL' });
});

test.each([
  ['size', 'IS_NULL', ['1'], 'no value of IS_NULL'],
  ['name', 'EQUALS', ['a', 'b'], 'one value of EQUALS'],
  ['name', 'IN', [], 'at least one value of IN'],
  ['size', 'EQUALS', ['1.5'], 'a whole number, which size is'],
  ['createdBy', 'EQUALS', ['me'], 'a whole number, which createdBy is'],
  ['toString', 'EQUALS', ['me'], 'a field of a file'],
  ['name', 'toString', ['me'], 'an operator'],
])('%s %s %j is refused', (field, operator, value, expected) => {
  const { error } = whereSchema.safeParse({ field, operator, value });

  expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining(expected)]);
});

test.each([
  ['size', 'LIKE', ['12']],
  ['size', 'IN', ['1', '-2']],
  ['size', 'LESS_THAN', ['9007199254740993']],
  ['created', 'GREATER_THAN', ['2026-11-21']],
  ['hash', 'IS_NULL', []],
])('%s %s %j is taken', (field, operator, value) => {
  expect(whereSchema.safeParse({ field, operator, value }).success).toBe(true);
});

import { expect, test } from 'vitest';
import { files } from '../../../../lib/snapshot/sources/files/definition.ts';
import { requestSchemasWith } from '../../../../lib/snapshot/sources/request.ts';

const entry = files.options.find(({ field }) => field === 'where')?.entry;

const parsed = (where: object) =>
  requestSchemasWith({}).files.safeParse({
    source: 'files',
    filesets: ['5ab50524-9b3d-4a75-b88a-f20ea274b5d8'],
    where: [where],
  });

test.each([
  ['size:GREATER_THAN:1000', { field: 'size', operator: 'GREATER_THAN', value: ['1000'] }],
  ['fileType:in:TEXT,IMAGE', { field: 'fileType', operator: 'IN', value: ['TEXT', 'IMAGE'] }],
  ['name:EQUALS:a,b', { field: 'name', operator: 'EQUALS', value: ['a,b'] }],
  ['fileType:!EQUALS:TEXT', { field: 'fileType', operator: 'EQUALS', value: ['TEXT'], not: true }],
  ['hash:IS_NULL', { field: 'hash', operator: 'IS_NULL', value: [] }],
  ['hash:!is_null', { field: 'hash', operator: 'IS_NULL', value: [], not: true }],
  ['path:LIKE:C:\\new\nline', { field: 'path', operator: 'LIKE', value: ['C:\\new\nline'] }],
  ['name:EQUALS:', { field: 'name', operator: 'EQUALS', value: [''] }],
])('%j is a valid filter', (text, filter) => {
  expect(entry?.read(text)).toEqual(filter);
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
])('%j is not a valid filter', (text) => {
  expect(entry?.read(text)).toBeUndefined();
});

test('the operator of a filter in a message may be in lower case', () => {
  const where = { field: 'hash', operator: 'is_null', value: [] };

  expect(parsed(where).data?.where).toEqual([{ ...where, operator: 'IS_NULL' }]);
});

test.each([
  ['toString', 'EQUALS', ['me'], 'a field of a file'],
  ['name', 'toString', ['me'], 'an operator'],
  ['NAME', 'EQUALS', ['me'], 'such as name'],
])('%s %s %j is refused', (field, operator, value, expected) => {
  const { error } = parsed({ field, operator, value });

  expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining(expected)]);
});

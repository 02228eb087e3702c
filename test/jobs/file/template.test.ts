import { expect, test } from 'vitest';
import { parseJson } from '../../../lib/base/json/json.ts';
import { readTemplate } from '../../../lib/jobs/file/job-file.ts';

const COLUMNS = ['id', 'customer', 'price', 'a:number', 'really?', ''];

function filled(json: string, row: Readonly<Record<string, string>>) {
  const template = readTemplate(parseJson(json), COLUMNS);
  if ('faults' in template) return template;
  return template.fill((column) => row[column] ?? '');
}

function faultsOf(json: string): readonly string[] {
  const template = readTemplate(parseJson(json), COLUMNS);
  return 'faults' in template ? template.faults : [];
}

test('a string that is a placeholder becomes the value of the cell; within a longer string the cell is inserted', () => {
  expect(
    filled('{"a":"{{ customer }}","b":["{{id}}-{{price}}",7,null,true]}', { customer: ' Ä "1" ', id: '007' }),
  ).toEqual({ value: { a: ' Ä "1" ', b: ['007-', 7, null, true] } });
});

test.each([
  ['number', '12345678901234567890', 12345678901234567890n],
  ['number', ' -1.5e3 ', -1500],
  ['boolean', 'TRUE', true],
  ['boolean', 'False', false],
  ['json', '{"a":[1]}', { a: [1] }],
  ['text', '12', '12'],
])('a cell is read as %s: %s', (type, cell, value) => {
  expect(filled(`{"v":"{{price:${type}}}"}`, { price: cell })).toEqual({ value: { v: value } });
});

test.each([
  ['number', '1,5', 'column price: expected a number, got "1,5"'],
  ['number', '', 'column price: expected a number, got an empty cell'],
  ['number', '0x10', 'column price: expected a number'],
  ['boolean', 'yes', 'column price: expected true or false, got "yes"'],
  ['json', '{', 'column price: expected JSON'],
])('a cell that is not a valid %s is a fault: %j', (type, cell, fault) => {
  expect(filled(`{"v":"{{price:${type}}}"}`, { price: cell })).toEqual({
    faults: [expect.stringContaining(fault)],
  });
});

test('spaces around the column and its type do not count', () => {
  expect(filled('{"v":"{{ price : number }}"}', { price: '7' })).toEqual({ value: { v: 7 } });
});

test('an empty cell omits an optional field', () => {
  const json = '{"a":"{{price:number?}}","b":["{{customer?}}","x"],"c":"{{customer}}"}';

  expect(filled(json, {})).toEqual({ value: { b: ['x'], c: '' } });
  expect(filled(json, { price: '1', customer: 'y' })).toEqual({ value: { a: 1, b: ['y', 'x'], c: 'y' } });
});

test('a placeholder refers first to the column with that whole name', () => {
  expect(filled('["{{a:number}}","{{really?}}"]', { 'a:number': 'x', 'really?': '' })).toEqual({
    value: ['x', ''],
  });
});

test('all missing columns are named, each with the nearest existing one', () => {
  expect(faultsOf('{"a":"{{custmer}}","b":{"c":["x {{shop}} {{custmer}}"]}}')).toEqual([
    '{{custmer}}: the CSV has no column of this name; did you mean customer?',
    expect.stringContaining('{{shop}}: the CSV has no column of this name; its columns are "id"'),
  ]);
});

test.each([
  [
    '{"a":"{{price:integer}}"}',
    '{{price:integer}}: expected one of text, number, boolean, json after the colon',
  ],
  ['{"a":"€ {{price:number}}"}', '{{price:number}}: must be the whole string'],
  ['{"a":"b"}', 'it has no placeholder for a column, such as {{id}}'],
])('%s is refused as a template', (json, fault) => {
  expect(faultsOf(json)).toEqual([expect.stringContaining(fault)]);
});

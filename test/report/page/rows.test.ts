import { describe, expect, test } from 'vitest';
import { csvOf, inShownOrder, matching, selectedBy } from '../../../lib/report/page/lists/rows.ts';

const names = ['Margin 10', 'margin 9', 'Ärger', 'Revenue'];

describe('a search', () => {
  const texts = names.map((name) => name.toLowerCase());

  test('finds all words, in any case and order', () => {
    expect(matching(texts, 'MARGIN')).toEqual([0, 1]);
    expect(matching(texts, '10 mar')).toEqual([0]);
    expect(matching(texts, 'ä')).toEqual([2]);
  });

  test('for nothing finds everything', () => {
    expect(matching(texts, '  ', (row) => row > 1)).toEqual([2, 3]);
  });
});

describe('a filter', () => {
  const text = () => '';
  const owners = [['41', '42'], ['41'], []];
  const times = [Date.UTC(2026, 10, 1, 23), Date.UTC(2026, 10, 3), null];
  const columns = [
    { name: 'owner', text, values: (row: number) => owners[row] ?? [] },
    { name: 'changed', text, number: (row: number) => times[row] ?? null, isDay: true },
  ];
  const select = (params: Readonly<Record<string, string>>) => [0, 1, 2].filter(selectedBy(columns, params));

  test('selects by any value of a column, and by days including both ends', () => {
    expect(select({})).toEqual([0, 1, 2]);
    expect(select({ owner: '42' })).toEqual([0]);
    expect(select({ 'changed.from': '2026-11-02' })).toEqual([1]);
    expect(select({ 'changed.to': '2026-11-01' })).toEqual([0]);
    expect(select({ owner: '41', 'changed.from': '2026-11-01', 'changed.to': '2026-11-03' })).toEqual([0, 1]);
  });

  test('ignores values that are not days, and unknown columns', () => {
    expect(select({ 'changed.from': 'x', page: '2' })).toEqual([0, 1, 2]);
  });
});

describe('a sort', () => {
  const text = (row: number) => names[row] ?? '';

  test('by text compares numbers within it as numbers', () => {
    expect(inShownOrder([{ name: 'name', text }], [0, 1, 2, 3], 'name')).toEqual([2, 1, 0, 3]);
    expect(inShownOrder([{ name: 'name', text }], [0, 1, 2, 3], '-name')).toEqual([3, 0, 1, 2]);
  });

  test('by number puts rows without a number at the end, in either direction', () => {
    const values = [3, null, 1, 2];
    const column = { name: 'size', text, number: (row: number) => values[row] ?? null };

    expect(inShownOrder([column], [0, 1, 2, 3], 'size')).toEqual([2, 3, 0, 1]);
    expect(inShownOrder([column], [0, 1, 2, 3], '-size')).toEqual([0, 3, 2, 1]);
  });
});

test('the CSV of a list has the shown columns, with numbers as digits and unchanged strings', () => {
  const names = ['Margin, "net"', '=1+1'];
  const columns = [
    { name: 'name', label: 'Name', text: (row: number) => names[row] ?? '' },
    {
      name: 'size',
      label: 'Size',
      text: () => '1.2 MB',
      number: (row: number) => row || null,
      isNumber: true,
    },
  ];

  expect(csvOf(columns, [1, 0])).toBe(`Name,Size\r\n=1+1,1\r\n"Margin, ""net""",\r\n`);
});

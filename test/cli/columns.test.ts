import { expect, test } from 'vitest';
import { inColumns } from '../../lib/cli/terminal/terminal.ts';

test('each column of a table is as wide as its widest cell', () => {
  const lines = inColumns(
    ['ID', 'STATE', 'ERROR'],
    [
      ['order-17', 'DONE', ''],
      ['a', 'FAILED', 'no', 'more'],
    ],
  );

  expect(lines).toEqual(['ID        STATE   ERROR', 'order-17  DONE', 'a         FAILED  no     more']);
});

test('a long cell is shortened, unless it is the last of its row', () => {
  const [, , short = '', last = ''] = inColumns(
    ['ID', 'ERROR'],
    [
      ['a', 'b'],
      ['x'.repeat(1_000), 'c'],
      ['d', 'y'.repeat(1_000)],
    ],
  );

  expect(short).toBe(`${'x'.repeat(200)}…  c`);
  expect(last).toBe(`d${' '.repeat(202)}${'y'.repeat(1_000)}`);
});

test('a table may have any number of rows', () => {
  const rows = Array.from({ length: 200_000 }, (_, at) => [`${at}`, 'DONE']);

  expect(inColumns(['ID', 'STATE'], rows).at(-1)).toBe('199999  DONE');
});

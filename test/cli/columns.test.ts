import { describe, expect, test } from 'vitest';
import { inColumns } from '../../lib/cli/terminal/columns.ts';

test('each column is as wide as its widest cell', () => {
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

test('there may be any number of rows', () => {
  const rows = Array.from({ length: 200_000 }, (_, at) => [`${at}`, 'DONE']);

  expect(inColumns(['ID', 'STATE'], rows).at(-1)).toBe('199999  DONE');
});

describe('long ids on a screen', () => {
  const rows = [
    ['reviews-20261121T091500Z.chunk-00003', 'score', 'DONE'],
    ['sum', 'run-function', 'FAILED: a long error that goes on and on'],
  ];
  const header = ['ID', 'TYPE', 'STATE'];

  test('are shortened in the middle, as far as the others need the room', () => {
    expect(inColumns(header, rows, { width: 60 })).toEqual([
      'ID                        TYPE          STATE',
      'reviews-2026…chunk-00003  score         DONE',
      'sum                       run-function  FAILED: a long error that goes on and on',
    ]);
  });

  test('have at least 16 characters', () => {
    expect(inColumns(header, rows, { width: 10 })[1]).toBe('reviews-…k-00003  score         DONE');
  });

  test('are whole where there is room, or no screen', () => {
    const whole = inColumns(header, rows);

    expect(whole[1]).toMatch(/^reviews-20261121T091500Z\.chunk-00003 {2}score/);
    expect(inColumns(header, rows, { width: 200 })).toEqual(whole);
  });
});

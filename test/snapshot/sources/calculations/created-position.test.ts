import { describe, expect, test } from 'vitest';
import {
  type CreatedPosition,
  type CreatedRow,
  freshRows,
  isSeamProved,
  isWalkedThrough,
  pastPage,
  steppedBack,
  withoutProofIfStuck,
  withTaken,
} from '../../../../lib/snapshot/sources/calculations/created-position.ts';
import { NO_TRICKLE } from '../../../../lib/snapshot/sources/calculations/trickle.ts';
import { createdPage } from '../../simulated-creations.ts';

/** Rows with these ids and times. */
const rowsAt = (...rows: readonly (readonly [id: number, created: number])[]): readonly CreatedRow[] =>
  createdPage(rows.map(([id, created]) => ({ id, created }))).rows.map((row) => ({
    ...row,
    created: Number(row.sentCreated),
  }));

const keysOf = (rows: readonly CreatedRow[]) => rows.map(({ key }) => key);

/** A scan that has taken 5 rows, the last two of them created at 20. */
const position: CreatedPosition = {
  target: 90,
  next: 3,
  stepBack: 0,
  last: { created: 20, ids: ['4', '5'] },
  tries: 0,
  tooMany: null,
  taken: 5,
  smallest: 4,
  idle: 2,
  trickle: NO_TRICKLE,
  degraded: false,
  totals: { start: 9, end: 9 },
};

const first: CreatedPosition = { ...position, next: 0, last: null, taken: 0, idle: 0 };
const unprovable: CreatedPosition = { ...position, tooMany: 20 };

describe('a seam is proved', () => {
  test.each<[string, CreatedPosition, readonly CreatedRow[], number, boolean]>([
    ['at the first row', position, rowsAt([9, 30]), 0, true],
    ['at the first row, of no rows', first, [], 0, true],
    ['by a row below the last time', position, rowsAt([3, 19], [4, 20]), 3, true],
    ['by a row of the last time if no page can prove it', unprovable, rowsAt([4, 20]), 3, true],
    ['not by a row of the last time', position, rowsAt([4, 20]), 3, false],
    [
      'not by a row of the last time if it is another that no page can prove',
      { ...position, tooMany: 19 },
      rowsAt([4, 20]),
      3,
      false,
    ],
    ['not by a later row', unprovable, rowsAt([6, 21]), 3, false],
    ['not by an empty page', position, [], 3, false],
    ['not if nothing was taken', first, rowsAt([1, 1]), 3, false],
  ])('%s', (_, at, rows, offset, is) => {
    expect(isSeamProved(at, rows, offset)).toBe(is);
  });
});

test('the fresh rows are all later ones, and those of the last time with new ids', () => {
  const rows = rowsAt([8, 19], [4, 20], [6, 20], [4, 21], [7, 22]);

  expect(keysOf(freshRows(position, rows))).toEqual(['6', '4', '7']);
  expect(freshRows(first, rows)).toBe(rows);
});

describe('after fresh rows are taken', () => {
  test('the last time has all its ids', () => {
    const same = withTaken(position, rowsAt([6, 20]));
    const later = withTaken(position, rowsAt([6, 20], [7, 21], [8, 22], [9, 22]));

    expect(same).toEqual({ ...position, last: { created: 20, ids: ['4', '5', '6'] }, taken: 6, idle: 0 });
    expect(later).toEqual({ ...position, last: { created: 22, ids: ['8', '9'] }, taken: 9, idle: 0 });
    expect(withTaken(first, rowsAt([1, 5])).last).toEqual({ created: 5, ids: ['1'] });
  });

  test('a page without any is idle', () => {
    expect(withTaken(position, [])).toEqual({ ...position, idle: 3 });
  });
});

describe('after a page', () => {
  const past = (at: CreatedPosition, rows: readonly CreatedRow[], offset: number, before = position) =>
    pastPage(at, { before, rows, offset });

  test('the next one starts at the last row below the last time', () => {
    const at = { ...position, last: { created: 30, ids: ['7', '8'] }, stepBack: 4, taken: 8, tries: 2 };
    const rows = rowsAt([3, 10], [4, 20], [7, 30], [8, 30]);

    expect(past(at, rows, 3)).toEqual({
      ...at,
      next: 4,
      stepBack: 0,
      tries: 0,
      smallest: 4,
      trickle: { largest: 4, pages: 0, read: 1 },
    });
  });

  test('the next one starts at its first row if none is below the last time', () => {
    expect(past(position, rowsAt([4, 20], [5, 20]), 3).next).toBe(3);
    expect(past(first, [], 0, first).next).toBe(0);
  });

  test('the next one overlaps by one row while no page can prove anything', () => {
    expect(past(unprovable, rowsAt([4, 20], [5, 20], [6, 20]), 3).next).toBe(5);
    expect(past(unprovable, [], 3).next).toBe(3);
  });

  test('the smallest page has at least one row', () => {
    expect(past(position, rowsAt([3, 10], [4, 20]), 3).smallest).toBe(2);
    expect(past(position, [], 3).smallest).toBe(1);
  });

  test('few new rows in a long list are part of a trickle', () => {
    const trickle = { largest: 64, pages: 5, read: 7 };
    const rows = rowsAt([3, 10], [4, 20]);

    expect(past({ ...position, trickle, taken: 6 }, rows, 3).trickle).toEqual({
      largest: 64,
      pages: 6,
      read: 8,
    });
    expect(past({ ...position, trickle }, rows, 3).trickle).toEqual({ largest: 64, pages: 5, read: 8 });
  });

  describe('that began as late as it could, it is stuck', () => {
    const triesAfter = (rows: readonly CreatedRow[], offset = 3, at = { ...position, tries: 1 }) =>
      past(at, rows, offset).tries;

    test('if it did not reach the end of the last time', () => {
      expect(triesAfter(rowsAt([3, 10], [4, 20], [5, 20]))).toBe(2);
      expect(triesAfter(rowsAt([4, 20], [5, 20]), 0)).toBe(2);
    });

    test('but not if the next page starts later', () => {
      expect(triesAfter(rowsAt([2, 9], [3, 10], [4, 20], [5, 20]))).toBe(0);
    });

    test('but not if it got past the last time', () => {
      const at = { ...position, tries: 1, last: { created: 30, ids: ['7'] } };

      expect(triesAfter(rowsAt([3, 20], [7, 30]), 3, at)).toBe(0);
    });

    test('but not if all its rows are below the last time', () => {
      expect(triesAfter(rowsAt([3, 10]))).toBe(0);
      expect(triesAfter([])).toBe(2);
    });

    test('but not if nothing was taken yet', () => {
      expect(past(first, [], 0, first).tries).toBe(0);
    });
  });
});

test('a step back is twice as far each time', () => {
  const one = steppedBack(position);
  const two = steppedBack(one);

  expect(one).toEqual({ ...position, stepBack: 1, idle: 3 });
  expect(two).toEqual({ ...position, stepBack: 2, idle: 4 });
  expect(steppedBack(two).stepBack).toBe(4);
});

test('after three tries a time is given up', () => {
  const stuck = { ...position, tries: 3 };
  const twice = { ...position, tries: 2 };
  const without = { ...first, tries: 3 };

  expect(withoutProofIfStuck(stuck)).toEqual({ ...position, tooMany: 20, tries: 0 });
  expect(withoutProofIfStuck(twice)).toBe(twice);
  expect(withoutProofIfStuck(without)).toBe(without);
});

test('a time that no page can prove ends with a page that brings nothing but the row it overlaps by', () => {
  const one = rowsAt([5, 20]);

  expect(isWalkedThrough(unprovable, one)).toBe(true);
  expect(isWalkedThrough(unprovable, [])).toBe(true);
  expect(isWalkedThrough(unprovable, rowsAt([5, 20], [6, 20]))).toBe(false);
  expect(isWalkedThrough({ ...unprovable, idle: 0 }, one)).toBe(false);
  expect(isWalkedThrough(position, one)).toBe(false);
  expect(isWalkedThrough({ ...first, idle: 1 }, one)).toBe(false);
});

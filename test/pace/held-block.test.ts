import { describe, expect, test } from 'vitest';
import { emptyBudget } from '../../lib/pace/budget.ts';
import {
  blockOf,
  type DistantBlock,
  dueMsOf,
  freshened,
  isStillValid,
  NO_BLOCK,
  slotsOf,
  type UsableBlock,
  useFirst,
  withoutLate,
} from '../../lib/pace/held-block.ts';

const three = { slots: [1_000, 1_020, 1_040], toleranceMs: 5, lateMs: 10, incidents: 2 } as const;
const held: DistantBlock = { kind: 'held', ...three };
const fresh: UsableBlock = { kind: 'fresh', ...three };

describe('a reservation', () => {
  const reserved = {
    firstMs: 1_000,
    size: 3,
    intervalMs: 20,
    toleranceMs: 5,
    lateMs: 10,
    incidents: 2,
    requestedAtMs: 745,
  };

  test('makes a block of slots one interval apart', () => {
    expect(blockOf(reserved)).toEqual({ kind: 'fresh', ...three });
    expect(blockOf({ ...reserved, size: 1 })).toEqual({ kind: 'fresh', ...three, slots: [1_000] });
  });

  test('must be checked again if its first slot may be used more than 250 ms after the request', () => {
    expect(blockOf({ ...reserved, requestedAtMs: 744 }).kind).toBe('held');
    expect(blockOf({ ...reserved, requestedAtMs: 745 }).kind).toBe('fresh');
  });
});

test('a slot may be used a little before its time', () => {
  expect(dueMsOf(fresh)).toBe(995);
});

describe('late slots', () => {
  test('may be used for as long as the process may be late, and no longer', () => {
    expect(withoutLate(fresh, 1_010)).toEqual(fresh);
    expect(withoutLate(fresh, 1_011)).toEqual({ ...fresh, slots: [1_020, 1_040] });
  });

  test('leave the block in the state it was in', () => {
    expect(withoutLate(held, 1_011).kind).toBe('held');
    expect(withoutLate({ ...fresh, kind: 'begun' }, 1_011).kind).toBe('begun');
  });

  test('leave nothing if all are late', () => {
    expect(withoutLate(fresh, 1_051)).toEqual({ kind: 'none' });
    expect(withoutLate(NO_BLOCK, 1_051)).toEqual({ kind: 'none' });
  });
});

describe('a call that uses the first slot', () => {
  test('leaves a block that has begun', () => {
    expect(useFirst(fresh)).toEqual({ ...fresh, kind: 'begun', slots: [1_020, 1_040] });
  });

  test('leaves nothing if it was the last', () => {
    expect(useFirst({ ...fresh, kind: 'begun', slots: [1_040] })).toEqual({ kind: 'none' });
  });

  test('does not change the block that it was given', () => {
    useFirst(fresh);

    expect(slotsOf(fresh)).toEqual([1_000, 1_020, 1_040]);
  });
});

describe('a check of the budget', () => {
  const budget = { ...emptyBudget, incidents: 2 };

  test.each([
    ['is valid if nothing has happened', budget, true],
    ['is void after another 429', { ...budget, incidents: 3 }, false],
    ['is void while the budget is paused', { ...budget, pausedAtMs: 900 }, false],
    ['is valid if the table does not respond', undefined, true],
  ])('shows that a block %s', (_, seen, expected) => {
    expect(isStillValid(held, seen)).toBe(expected);
  });

  test('makes a valid block usable, and no block stays no block', () => {
    expect(freshened(held)).toEqual(fresh);
    expect(freshened({ ...fresh, kind: 'begun' }).kind).toBe('begun');
    expect(freshened(NO_BLOCK)).toEqual({ kind: 'none' });
  });
});

test('no block has no slots', () => {
  expect(slotsOf(NO_BLOCK)).toEqual([]);
  expect(slotsOf(held)).toEqual([1_000, 1_020, 1_040]);
});

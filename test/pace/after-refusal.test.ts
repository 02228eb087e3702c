import { describe, expect, test } from 'vitest';
import { afterRefusal, type Refusal } from '../../lib/pace/after-refusal.ts';
import type { Lowered } from '../../lib/pace/lowered.ts';

const refusal: Refusal = {
  rate: 10,
  nowMs: 100_000,
  pauseMs: 30_000,
  intervalMs: 100,
  hasSucceeded: true,
  random: 0.5,
};

test('the first 429 lowers the rate to 70 %, and the first probe leaves at the end of the pause', () => {
  expect(afterRefusal(undefined, { ...refusal, hasSucceeded: false })).toEqual({ rate: 7, atMs: 100_000 });
});

test('a 429 leaves at least a twentieth of the configured rate', () => {
  expect(afterRefusal({ rate: 0.6, atMs: 90_000 }, refusal)).toMatchObject({ rate: 0.5 });
});

test('a 429 after a success lowers what the rate had risen to', () => {
  const last = { rate: 7, atMs: 30_000, succeededMs: 31_000 };

  const lowered = afterRefusal(last, refusal);

  expect(lowered).toEqual({
    rate: expect.closeTo(5.18, 9),
    atMs: 100_000,
  });
});

describe('after a spell that outlasted its pause by 4 s', () => {
  const last: Lowered = { rate: 7, atMs: 50_000, refused: 1, refusedAtMs: 54_000, succeededMs: 55_000 };

  test('the first probe leaves shortly before the next spell would end', () => {
    expect(afterRefusal(last, refusal)).toEqual({
      rate: 7,
      atMs: 100_000,
      expectedMs: 4_000,
      probeMs: 103_400,
    });
  });

  test.each([
    ['15 % earlier at random', last, { random: 0 }, 102_890],
    ['15 % later at random', last, { random: 1 }, 103_910],
    ['after 60 % of a pause that is short', last, { pauseMs: 5_000 }, 103_000],
    ['after a second, if the spell was short', { ...last, refusedAtMs: 51_000 }, {}, 101_000],
    ['at the end of the pause if that is a second', last, { pauseMs: 1_000 }, undefined],
  ] as const)('it leaves %s', (_, before, given, probeMs) => {
    expect(afterRefusal(before, { ...refusal, ...given }).probeMs).toBe(probeMs);
  });

  test('the spell is remembered for a minute', () => {
    const loweredAfter = (refusedAtMs: number) =>
      afterRefusal({ ...last, atMs: refusedAtMs - 4_000, refusedAtMs }, refusal);

    expect(loweredAfter(40_000)).toMatchObject({ expectedMs: 4_000 });
    expect(loweredAfter(39_999)).not.toHaveProperty('expectedMs');
  });

  test('a spell without a refused probe makes the next one be expected 15 % shorter', () => {
    const quiet: Lowered = { rate: 7, atMs: 50_000, refused: 0, expectedMs: 4_000, succeededMs: 55_000 };

    expect(afterRefusal(quiet, refusal)).toMatchObject({ expectedMs: 3_400, probeMs: 102_890 });
    expect(afterRefusal({ ...quiet, expectedMs: undefined }, refusal)).not.toHaveProperty('expectedMs');
  });
});

describe('a refused probe', () => {
  const lowered: Lowered = { rate: 7, atMs: 90_000 };
  const probe: Refusal = { ...refusal, hasSucceeded: false };

  test('lowers nothing, and is recorded', () => {
    expect(afterRefusal(lowered, probe)).toEqual({
      ...lowered,
      refused: 1,
      refusedAtMs: 100_000,
      probeMs: 104_500,
    });
  });

  test.each([
    ['15 % of the pause', {}, {}, 4_500],
    ['15 % earlier at random', {}, { random: 0 }, 3_825],
    ['15 % later at random', {}, { random: 1 }, 5_175],
    ['at least 0.3 s', {}, { pauseMs: 1_000 }, 300],
    ['at least the time between two calls', {}, { pauseMs: 1_000, intervalMs: 2_000 }, 2_000],
    ['the same time four times', { refused: 3 }, {}, 4_500],
    ['half as much again after the fifth', { refused: 4 }, {}, 6_750],
    ['at most 15 s', { refused: 30 }, {}, 15_000],
    ['at most the pause', { refused: 30 }, { pauseMs: 8_000 }, 8_000],
    ['at most 5 s after a short pause', { refused: 30 }, { pauseMs: 1_000 }, 5_000],
  ] as const)('is followed by the next one after %s', (_, before, given, gapMs) => {
    expect(afterRefusal({ ...lowered, ...before }, { ...probe, ...given }).probeMs).toBe(100_000 + gapMs);
  });
});

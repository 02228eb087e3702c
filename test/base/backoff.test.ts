import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../lib/base/async.ts';

const limits = { baseDelayMs: 250, maxDelayMs: 20_000 };

describe('the backoff', () => {
  test('has a ceiling that doubles from 250 ms up to 20 s', () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7, 8, 9, 2_000].map((retry) =>
      backoffMs(retry, 0.999_999_999, limits),
    );

    expect(ceilings).toEqual([249, 499, 999, 1999, 3999, 7999, 15_999, 19_999, 19_999, 19_999]);
  });

  test('has jitter over the whole range', () => {
    expect([0, 0.25, 0.5, 0.75].map((random) => backoffMs(3, random, limits))).toEqual([0, 250, 500, 750]);
  });
});

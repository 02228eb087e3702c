import { describe, expect, test } from 'vitest';
import { afterHit, afterMiss, PUNCTUAL } from '../../lib/pace/lateness.ts';

test('a process that has missed nothing may be 10 ms late, and reserves no further ahead', () => {
  expect(PUNCTUAL).toEqual({ lateMs: 10, aheadMs: 0 });
});

describe('a missed slot', () => {
  test('because of a timer that was late once changes nothing', () => {
    expect(afterMiss({ lateMs: 10, aheadMs: 7 }, { waitedFor: 'timer', misses: 1 })).toEqual({
      lateMs: 10,
      aheadMs: 7,
    });
  });

  test('because of timers that are late again lets the next one be twice as late, up to a whole block', () => {
    const again = { waitedFor: 'timer', misses: 2 } as const;

    expect(afterMiss({ lateMs: 10, aheadMs: 7 }, again)).toEqual({ lateMs: 20, aheadMs: 7 });
    expect(afterMiss({ lateMs: 160, aheadMs: 7 }, again)).toEqual({ lateMs: 250, aheadMs: 7 });
  });

  test('because of a response lets the next one be reserved twice as far ahead, from 10 ms up to a second', () => {
    const response = { waitedFor: 'response', misses: 1 } as const;

    expect(afterMiss({ lateMs: 20, aheadMs: 0 }, response)).toEqual({ lateMs: 20, aheadMs: 10 });
    expect(afterMiss({ lateMs: 20, aheadMs: 10 }, response)).toEqual({ lateMs: 20, aheadMs: 20 });
    expect(afterMiss({ lateMs: 20, aheadMs: 640 }, response)).toEqual({ lateMs: 20, aheadMs: 1_000 });
  });
});

describe('a used slot', () => {
  test('takes back a little of both', () => {
    expect(afterHit({ lateMs: 100, aheadMs: 50 })).toEqual({ lateMs: 97, aheadMs: 45 });
  });

  test('still lets a slot be 10 ms late', () => {
    expect(afterHit({ lateMs: 10.2, aheadMs: 0 })).toEqual({ lateMs: 10, aheadMs: 0 });
  });
});

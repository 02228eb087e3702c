import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import { paceSuite } from './pace-suite.ts';
import { createVirtualClock } from './virtual-clock.ts';

paceSuite('the pace of one process', createProcessPace);

describe('in virtual time, with timers that fire late,', () => {
  const schedules = fc.record({
    rate: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.double({ min: 0.5, max: 40, noNaN: true })),
    concurrency: fc.integer({ min: 1, max: 16 }),
    arrivals: fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 20, maxLength: 60 }),
    durations: fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 5 }),
    lateness: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 7 }),
  });

  test('no sliding second exceeds the rate, and every call leaves', async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async ({ rate, concurrency, arrivals, durations, lateness }) => {
        let woken = 0;
        const clock = createVirtualClock({ lateness: () => lateness[woken++ % lateness.length] ?? 0 });
        const pace = createProcessPace({ rate, concurrency, ...clock });
        const leftAt: number[] = [];
        const call = async (index: number, arrivalMs: number) => {
          await clock.sleep(arrivalMs);
          await pace.run(async () => {
            leftAt.push(clock.now());
            await clock.sleep(durations[index % durations.length] ?? 0);
          });
        };

        await clock.finish(Promise.all(arrivals.map((arrivalMs, index) => call(index, arrivalMs))));

        expect(leftAt).toHaveLength(arrivals.length);
        const most = Math.ceil(rate);
        for (const [index, atMs] of leftAt.entries()) {
          expect((leftAt[index + most] ?? Number.POSITIVE_INFINITY) - atMs).toBeGreaterThanOrEqual(1000);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('a busy process uses nearly all of its rate although its timers are a few milliseconds late', async () => {
    const lateness = [0, 3, 1, 4, 2];
    let woken = 0;
    const clock = createVirtualClock({ lateness: () => lateness[woken++ % lateness.length] ?? 0 });
    const pace = createProcessPace({ rate: 9.8, concurrency: 4, ...clock });

    await clock.finish(Promise.all(Array.from({ length: 589 }, () => pace.run(async () => undefined))));

    expect(clock.now()).toBeLessThan((588 / 9.8) * 1000 + 10);
  });
});

test.each([
  [{ rate: 0, concurrency: 1 }, 'rate: expected a number above 0, got 0'],
  [{ rate: Number.NaN, concurrency: 1 }, 'rate: expected a number above 0, got NaN'],
  [{ rate: 1, concurrency: 1.5 }, 'concurrency: expected a whole number of at least 1, got 1.5'],
  [{ rate: 1, concurrency: 1, maxWaitMs: -1 }, 'maxWaitMs: expected a number of at least 0, got -1'],
])('a rate of %o is refused: %s', (options, message) => {
  expect(() => createProcessPace(options)).toThrow(message);
});

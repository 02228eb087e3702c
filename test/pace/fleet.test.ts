import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMemoryBudget, emptyBudget, LATE_MS, lineSpacing } from '../../lib/pace/budget.ts';
import { createFleetPace } from '../../lib/pace/fleet-pace.ts';
import { scaled } from '../scale.ts';
import { type Departure, maxInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** The maximum calls within a second if clocks differ by `differenceMs`: what the line grants in a second plus that time. */
function maxWith(rate: number, differenceMs: number): number {
  const { intervalMs, toleranceMs } = lineSpacing(rate, emptyBudget, 0);
  return Math.ceil((1000 + toleranceMs + LATE_MS + differenceMs) / intervalMs);
}

function differenceOf(workers: readonly SimulatedWorker[]): number {
  const skews = workers.map(({ skewMs = 0 }) => skewMs);
  return Math.max(...skews) - Math.min(...skews);
}

const of = (departures: readonly Departure[], worker: number) =>
  departures.filter((departure) => departure.worker === worker);

function longestGap(departures: readonly Departure[], untilMs: number): number {
  const times = [0, ...departures.map(({ atMs }) => atMs), untilMs];
  return Math.max(...times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0)));
}

const busy = (count: number, worker: SimulatedWorker = {}): readonly SimulatedWorker[] =>
  Array.from({ length: count }, () => worker);

test('with synchronous clocks, no second exceeds the rate', () => {
  expect([1, 2, 7.5, 50, 60].map((rate) => maxWith(rate, 0))).toEqual([1, 2, 8, 50, 60]);
});

describe('whatever the workers do,', () => {
  const workers = fc.array(
    fc.record({
      skewMs: fc.integer({ min: -50, max: 50 }),
      concurrency: fc.integer({ min: 1, max: 8 }),
      loops: fc.integer({ min: 1, max: 10 }),
      startsMs: fc.integer({ min: 0, max: 2_000 }),
      endsMs: fc.integer({ min: 2_000, max: 5_000 }),
      diesMs: fc.oneof(
        { weight: 3, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
        fc.integer({ min: 500, max: 5_000 }),
      ),
      restMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 600 })),
      reserve: fc.constantFrom('single' as const, 'batch' as const),
      maxWaitMs: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 0, max: 3_000 })),
    }),
    { minLength: 1, maxLength: 12 },
  );
  const plans = fc.record({
    rate: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0.5, max: 60, noNaN: true })),
    workers,
    callMs: fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 5 }),
    responseMs: fc.array(fc.integer({ min: 0, max: 80 }), { minLength: 1, maxLength: 5 }),
    lost: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 9 }),
    lateness: fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 7 }),
  });

  test('no second exceeds the rate by more than the difference between the clocks explains', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async ({ callMs, responseMs, lost, lateness, ...plan }) => {
        let woken = 0;
        const { departures } = await simulateFleet({
          ...plan,
          workers: plan.workers.map(({ diesMs, ...worker }) =>
            Number.isFinite(diesMs) ? { ...worker, diesMs } : worker,
          ),
          durationMs: 5_000,
          callMs: (call) => callMs[call % callMs.length] ?? 0,
          responseMs: (request) => responseMs[request % responseMs.length] ?? 0,
          isLost: (question, atMs) => atMs < 5_000 && lost[question % lost.length] === 0,
          lateness: () => lateness[woken++ % lateness.length] ?? 0,
        });

        expect(maxInASecond(departures)).toBeLessThanOrEqual(maxWith(plan.rate, differenceOf(plan.workers)));
      }),
      { numRuns: scaled(20, 60) },
    );
  });
});

describe('a busy fleet', () => {
  test('uses nearly all of the rate with few writes', async () => {
    const { departures, requests } = await simulateFleet({ rate: 50, workers: busy(20), durationMs: 20_000 });

    const used = departures.filter(({ atMs }) => atMs < 20_000).length;
    expect(used / (50 * 20)).toBeGreaterThan(0.96);
    expect(maxInASecond(departures)).toBeLessThanOrEqual(50);
    expect((requests.writes / departures.length) * 1000).toBeLessThan(150);
  });

  test('uses nearly all of the rate even with a single worker', async () => {
    const { departures } = await simulateFleet({ rate: 50, workers: busy(1), durationMs: 10_000 });

    expect(departures.filter(({ atMs }) => atMs < 10_000).length / 500).toBeGreaterThan(0.95);
  });

  test('loses little when workers die while they hold slots', async () => {
    const dying = [2_000, 4_000, 6_000, 8_000, 10_000].map((diesMs) => ({ diesMs }));
    const { departures } = await simulateFleet({
      rate: 50,
      workers: [...busy(5), ...dying, ...busy(5, { loops: 1, restMs: 5_000 })],
      durationMs: 20_000,
    });

    expect(departures.filter(({ atMs }) => atMs < 20_000).length / 1_000).toBeGreaterThan(0.9);
  });

  test('shares evenly, whichever worker started first', async () => {
    const { departures } = await simulateFleet({
      rate: 50,
      workers: [...busy(5), ...busy(5, { startsMs: 3_000 })],
      durationMs: 23_000,
    });

    const late = departures.filter(({ atMs }) => atMs >= 4_000 && atMs < 23_000);
    const shares = Array.from({ length: 10 }, (_, worker) => of(late, worker).length);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(24);
  });
});

test('a process whose timers are always late still sends, and never exceeds the rate', async () => {
  const { departures, paces } = await simulateFleet({
    rate: 10,
    workers: busy(2),
    durationMs: 20_000,
    lateness: () => 40,
  });

  expect(departures.filter(({ atMs }) => atMs < 20_000).length / 200).toBeGreaterThan(0.6);
  expect(maxInASecond(departures)).toBeLessThanOrEqual(10);
  expect(paces[0]?.counts().wasted).toBeGreaterThan(0);
});

describe('calls that must prepare, for example by writing SENT,', () => {
  async function share(prepareMs: (call: number) => number, count = 20, durationMs = 20_000) {
    const { departures } = await simulateFleet({
      rate: 49,
      workers: busy(count, { concurrency: 16, loops: 16, prepareMs }),
      durationMs,
    });
    const within = departures.filter(({ atMs }) => atMs >= 4_000 && atMs < durationMs);
    return { used: within.length / (49 * (durationMs / 1000 - 4)), most: maxInASecond(departures) };
  }

  test.each([
    ['10 ms', () => 10],
    ['200 ms', () => 200],
    ['1 s', () => 1_000],
    ['between 5 ms and 1 s', (call: number) => [5, 8, 200, 6, 1_000, 5, 7][call % 7] ?? 0],
  ])('for %s, still leave in their slots and use nearly all of the rate', async (_, prepareMs) => {
    const { used, most } = await share(prepareMs);

    expect(most).toBeLessThanOrEqual(49);
    expect(used).toBeGreaterThan(0.95);
  });

  test.each([
    ['always take the same', () => 200, 0.95],
    ['vary', (call: number) => 200 + (call % 5) * 10, 0.95],
  ])('reserve no slots for which they would be late, if writes %s', async (_, prepareMs, least) => {
    const { departures } = await simulateFleet({
      rate: 49,
      workers: busy(10, { prepareMs }),
      durationMs: 16_000,
    });

    const within = departures.filter(({ atMs }) => atMs >= 4_000 && atMs < 16_000);
    expect(within.length / (49 * 12)).toBeGreaterThan(least);
    expect(maxInASecond(departures)).toBeLessThanOrEqual(49);
  });

  test('use most of the rate even if there is only one worker', async () => {
    const { used, most } = await share(() => 200, 1);

    expect(most).toBeLessThanOrEqual(49);
    expect(used).toBeGreaterThan(0.95);
  });

  test('use nearly all of the rate even if most calls turn out to be unnecessary', async () => {
    const clock = createVirtualClock();
    const pace = createFleetPace({ ...clock, item: createMemoryBudget(), rate: 49, concurrency: 8 });
    let [prepared, left] = [0, 0];
    const prepare = async () => {
      prepared += 1;
      const isNeeded = prepared % 6 === 0;
      await clock.sleep(2);
      if (!isNeeded) throw new Error('done by another process');
    };
    const loop = async () => {
      while (clock.now() < 6_000)
        await pace
          .run(
            async () => {
              left += 1;
              await clock.sleep(20);
            },
            { prepare },
          )
          .catch(() => undefined);
    };

    await clock.finish(Promise.all(Array.from({ length: 8 }, loop)));

    expect(left / (49 * 6)).toBeGreaterThan(0.95);
  });

  test('leave spaced by slots after a slow write has delayed all of them', async () => {
    let stalledUntilMs = 0;
    const clock = createVirtualClock();
    const pace = createFleetPace({ ...clock, item: createMemoryBudget(), rate: 49, concurrency: 40 });
    const leftAt: number[] = [];
    const prepare = () => clock.sleep(Math.max(5, stalledUntilMs - clock.now()));
    const loop = async () => {
      while (clock.now() < 6_000)
        await pace.run(
          async () => {
            leftAt.push(clock.now());
            await clock.sleep(20);
          },
          { prepare },
        );
    };

    const all = Promise.all(Array.from({ length: 40 }, loop));
    await clock.run(2_000);
    stalledUntilMs = 3_000;
    await clock.run();
    await all;

    const times = leftAt.map((atMs) => ({ worker: 0, atMs, slot: { atMs, waitedMs: 0 }, refused: false }));
    expect(maxInASecond(times)).toBeLessThanOrEqual(49);
    expect(times.filter(({ atMs }) => atMs >= 3_000 && atMs < 4_000).length).toBeGreaterThan(44);
  });
});

describe('a difference between clocks', () => {
  test('does not let a worker with a fast clock take more slots, or a worker with a slow clock save them up', async () => {
    const skews = [100, 0, 0, 0, 0, 0, 0, 0, 0, -100];
    const { departures } = await simulateFleet({
      rate: 50,
      workers: skews.map((skewMs) => ({ skewMs })),
      durationMs: 20_000,
    });

    const within = departures.filter(({ atMs }) => atMs < 20_000);
    const shares = skews.map((_, worker) => of(within, worker).length);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(24);
    expect(within.length / 1_000).toBeGreaterThan(0.95);
    expect(maxInASecond(departures)).toBeLessThanOrEqual(maxWith(50, 200));
  });

  test('of 100 ms lets at most a tenth more calls leave in a second, even if the line is nearly idle', async () => {
    const { departures } = await simulateFleet({
      rate: 50,
      workers: [100, 0, 60, 30].map((skewMs) => ({ skewMs, loops: 2, restMs: 100 })),
      durationMs: 20_000,
    });

    expect(maxWith(50, 100)).toBe(55);
    expect(maxInASecond(departures)).toBeLessThanOrEqual(55);
  });
});

describe('no worker starves:', () => {
  test('a snapshot that reserves one slot at a time waits at most for one reserved block of each other worker', async () => {
    const { departures } = await simulateFleet({
      rate: 50,
      workers: [...busy(10), { reserve: 'single', loops: 4 }],
      durationMs: 30_000,
    });

    const gapMs = longestGap(of(departures, 10), 30_000);
    expect(gapMs).toBeLessThan(10 * 250 + 250);
  });

  test('a worker with one call at a time gets its share', async () => {
    const { departures } = await simulateFleet({
      rate: 10,
      workers: [...busy(6, { loops: 16 }), { loops: 1 }],
      durationMs: 30_000,
    });

    expect(longestGap(of(departures, 6), 30_000)).toBeLessThan(7 * 250 + 250);
  });
});

describe('a 429', () => {
  test('stops the whole fleet within half a second, for as long as it asks, and counts once', async () => {
    const { departures, budget } = await simulateFleet({
      rate: 50,
      workers: busy(10),
      durationMs: 30_000,
      refuse: (atMs) => (atMs >= 5_000 && atMs < 5_600 ? 7_000 : undefined),
    });

    const during = departures.filter(({ atMs }) => atMs > 5_600 && atMs < 12_000);
    const after = departures.filter(({ atMs }) => atMs >= 12_500 && atMs < 22_500);
    expect(during).toEqual([]);
    expect(budget).toMatchObject({ incidents: 1, throttle: { kind: 'learned', rate: 47.5 } });
    expect(after.length / 10).toBeGreaterThan(45);
    expect(after.length / 10).toBeLessThanOrEqual(50);
  });

  test('that is not part of the first incident lowers the rate below the rate that succeeded', async () => {
    const { budget } = await simulateFleet({
      rate: 50,
      workers: busy(3),
      durationMs: 12_000,
      refuse: (atMs) => (atMs % 6_000 < 25 && atMs > 100 ? 1_000 : undefined),
    });

    expect(budget.incidents).toBe(2);
    expect(budget.throttle?.rate).toBeLessThan(46);
    expect(budget.throttle?.rate).toBeGreaterThan(35);
  });
});

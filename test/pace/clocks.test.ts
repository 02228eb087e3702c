import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomFor } from '../../lib/sandbox/platform/records/random.ts';
import { createSqliteTable } from '../../lib/table/sqlite-table.ts';
import { scaled, scaledTimeout } from '../scale.ts';
import { createSqliteInMemory } from '../table/sqlite-in-memory.ts';
import { type FleetPlan, maxInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';

const RATE = 49;

/** Runs a busy fleet. The figures are from its second second on, except `most`, which counts from the start. */
async function fleetOf(workers: readonly SimulatedWorker[], plan: Partial<FleetPlan> = {}) {
  const durationMs = 15_000;
  const run = await simulateFleet({ rate: RATE, hasDates: true, workers, durationMs, ...plan });
  const within = run.departures.filter(({ atMs }) => atMs >= 2_000 && atMs < durationMs);
  const shares = workers.map((_, worker) => within.filter((each) => each.worker === worker).length);
  return {
    ...run,
    used: within.length / (RATE * (durationMs / 1000 - 2)),
    most: maxInASecond(run.departures),
    minShare: Math.min(...shares) / (within.length / workers.length),
  };
}

const skewed = (...skewsMs: readonly number[]): readonly SimulatedWorker[] =>
  skewsMs.map((skewMs) => ({ skewMs }));

describe('clocks of workers that differ', () => {
  test.each([
    ['by nothing', skewed(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
    ['by 100 ms', skewed(100, 0, -100, 50, -50, 0, 0, 100, -100, 20)],
    ['by 2 s', skewed(1_000, -1_000, 500, -500, 0, 900, -900, 300, 0, -100)],
    ['by 5 minutes', skewed(300_000, 0, 0, -300_000, 0, 0, 0, 0, 0)],
  ])('%s let no second exceed the rate, use the rate, and starve no worker', async (_, workers) => {
    const { used, most, minShare } = await fleetOf(workers);

    expect(most).toBeLessThanOrEqual(RATE);
    expect(used).toBeGreaterThan(0.95);
    expect(minShare).toBeGreaterThan(0.8);
  });

  test.each([100, 2_000])(
    'by %i ms let no second exceed the rate while the exact time is unknown',
    async (byMs) => {
      for (let seed = 1; seed <= 12; seed += 1) {
        const random = randomFor(seed, 'responses');
        const workers = Array.from({ length: 10 }, (_, at) => ({
          skewMs: [0, byMs, -byMs][at % 3] ?? 0,
          startsMs: 37 * at,
        }));

        const { most } = await fleetOf(workers, {
          durationMs: 5_000,
          responseMs: () => 3 + 22 * random.next() * random.next(),
          lateness: () => 1.5 * random.next(),
        });

        expect(most, `seed ${seed}`).toBeLessThanOrEqual(RATE);
      }
    },
  );

  test('by 2 s let no second exceed the rate even while workers start and stop', async () => {
    const workers = skewed(1_000, -1_000, 500, -500, 0, 900, -900, 300).map((worker, at) => ({
      ...worker,
      startsMs: 700 * at,
      ...(at % 3 === 0 ? { endsMs: 700 * at + 4_000 } : {}),
    }));

    const { most } = await fleetOf(workers);

    expect(most).toBeLessThanOrEqual(RATE);
  });

  test('by minutes are reported, in one line for each process with a wrong clock', async () => {
    const { clocksOff } = await fleetOf(skewed(300_000, 0, 0, -300_000, 1_000));

    expect(clocksOff.map(({ worker }) => worker)).toEqual([0, 3]);
  });

  test('by 5 minutes do not cause a call to be refused that may wait 5 s', async () => {
    const workers = skewed(300_000, -300_000, 0).map((worker) => ({ ...worker, maxWaitMs: 5_000 }));

    const { refusals } = await fleetOf(workers);

    expect(refusals).toEqual([]);
  });
});

describe('a clock that is set while the fleet works', () => {
  test.each([2_000, -2_000, 300_000, -300_000])('by %i ms lets no second exceed the rate', async (byMs) => {
    const workers = [
      ...skewed(0, 0, 0, 0, 0),
      { skewAt: (atMs: number) => (atMs < 5_030 ? 0 : byMs) },
    ] satisfies readonly SimulatedWorker[];

    const { most, used, minShare } = await fleetOf(workers);

    expect(most).toBeLessThanOrEqual(RATE);
    expect(used).toBeGreaterThan(0.92);
    expect(minShare).toBeGreaterThan(0.6);
  });
});

describe('for any clocks and durations of requests,', () => {
  type Times = Record<'skewMs' | 'drift' | 'setAtMs' | 'setByMs', number>;
  /** Clock differences above 40 ms: a clock that agrees with the table's within 40 ms is not corrected. */
  const off = (min: number, max: number) =>
    fc.tuple(fc.integer({ min, max }), fc.constantFrom(1, -1)).map(([ms, sign]) => ms * sign);
  const times = fc.record({
    skewMs: fc.oneof(fc.constant(0), off(60, 150), off(500, 300_000)),
    drift: fc.constantFrom(0, 0, 0.000_1, -0.000_1),
    setAtMs: fc.integer({ min: 2_000, max: 60_000 }),
    setByMs: fc.oneof(off(200, 200), off(1_000, 300_000)),
  });
  const workers = fc.array(
    fc.record({
      times,
      loops: fc.integer({ min: 1, max: 6 }),
      concurrency: fc.integer({ min: 1, max: 8 }),
      startsMs: fc.integer({ min: 0, max: 3_000 }),
      endsMs: fc.integer({ min: 3_500, max: 20_000 }),
      restMs: fc.constantFrom(0, 0, 100, 500),
      reserve: fc.constantFrom('single' as const, 'batch' as const),
    }),
    { minLength: 1, maxLength: 6 },
  );
  const plans = fc.record({
    rate: fc.constantFrom(1, 2, 7.5, 20, RATE),
    workers,
    farMs: fc.constantFrom(2, 10, 22),
    lateMs: fc.constantFrom(0, 1.5),
    callsMs: fc.array(fc.constantFrom(5, 20, 60, 300), { minLength: 1, maxLength: 4 }),
    seed: fc.integer(),
  });
  /** Users of a SQLite file share the clock of the simulation. */
  const tableOf = (name: string): Partial<FleetPlan> =>
    name === 'SQLite'
      ? { hasDates: false, table: createSqliteTable(createSqliteInMemory()({ name, isAlive: true })) }
      : { hasDates: true };

  test.each(['DynamoDB', 'SQLite'])(
    'no second exceeds the rate, and calls leave, over %s',
    async (name) => {
      const check = fc.asyncProperty(plans, async ({ rate, farMs, lateMs, callsMs, seed, ...plan }) => {
        const random = randomFor(seed, 'responses').next;
        const clockOf = ({ skewMs, drift, setAtMs, setByMs }: Times) => ({
          skewMs,
          skewAt: (atMs: number) => atMs * drift + (atMs < setAtMs ? 0 : setByMs),
        });

        const { departures } = await simulateFleet({
          rate,
          durationMs: 12_000,
          ...tableOf(name),
          workers: plan.workers.map(({ times, ...worker }) => ({
            ...worker,
            ...(name === 'SQLite' ? {} : clockOf(times)),
          })),
          callMs: (call) => callsMs[call % callsMs.length] ?? 0,
          responseMs: () => 1 + farMs * random() * random(),
          lateness: () => lateMs * random(),
        });

        expect(maxInASecond(departures)).toBeLessThanOrEqual(Math.ceil(rate));
        expect(departures.length).toBeGreaterThanOrEqual(plan.workers.length);
      });

      await fc.assert(check, { numRuns: scaled(20, 500) });
    },
    scaledTimeout(1_200_000),
  );
});

test('clocks that drift are corrected to the same time', async () => {
  const workers = [0.000_1, -0.000_1, 0.000_05, 0].map((drift) => ({
    skewAt: (atMs: number) => atMs * drift,
  }));

  const { most, used } = await fleetOf(workers);

  expect(most).toBeLessThanOrEqual(RATE);
  expect(used).toBeGreaterThan(0.95);
});

test('if the responses of the table have no Date, the first call does not wait to learn the time', async () => {
  const { departures } = await fleetOf(skewed(0, 0), { hasDates: false });

  expect(departures[0]?.atMs).toBeLessThan(30);
});

test('the first call of a process waits at most for the next second to begin', async () => {
  const { departures, requests } = await fleetOf(skewed(0), { durationMs: 1_500 });

  expect(departures[0]?.atMs).toBeLessThan(1_100);
  expect(requests.reads).toBeLessThan(50);
});

describe('a process with a wrong clock whose table is unavailable at first', () => {
  test.each([
    { skewMs: 300_000, unavailableMs: 5_000, others: 'all are cut off', most: RATE },
    { skewMs: -300_000, unavailableMs: 5_000, others: 'all are cut off', most: RATE },
    // While only this process is cut off, its slots are in addition to the others': a sixth of the rate.
    { skewMs: 300_000, unavailableMs: 12_000, others: 'only it is', most: RATE * (7 / 6) },
  ])('(for $unavailableMs ms, by $skewMs ms, and $others) shares the rate 15 s later', async (given) => {
    const { skewMs, unavailableMs, others, most } = given;
    const workers = skewed(skewMs, 0, 0).map((worker) => ({ ...worker, maxWaitMs: 60_000 }));
    const isUnavailable = (atMs: number, worker: number) =>
      atMs < unavailableMs && (worker === 0 || others === 'all are cut off');
    const durationMs = unavailableMs + 25_000;

    const { departures, refusals } = await fleetOf(workers, { durationMs, isUnavailable });

    const later = departures.filter(({ atMs }) => atMs >= unavailableMs + 15_000 && atMs < durationMs);
    const its = later.filter(({ worker }) => worker === 0);
    expect(later.length / (RATE * 10)).toBeGreaterThan(0.9);
    expect(its.length / (later.length / 3)).toBeGreaterThan(0.8);
    expect(refusals).toEqual([]);
    expect(maxInASecond(departures)).toBeLessThanOrEqual(most);
  });
});

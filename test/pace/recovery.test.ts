import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Budget, emptyBudget } from '../../lib/pace/budget.ts';
import { createTableBudget } from '../../lib/pace/stored-budget.ts';
import { scaled } from '../scale.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import {
  type Departure,
  EPOCH_MS,
  HOST,
  maxInASecond,
  type SimulatedWorker,
  simulateFleet,
} from './simulated-fleet.ts';
import { learnedTo } from './throttled.ts';

/** A time in which the platform refuses calls: all of the time, or the first `onMs` of every `everyMs`. */
type Spell = {
  readonly afterMs: number;
  readonly lastsMs: number;
  readonly onMs: number;
  readonly everyMs: number;
  readonly retryAfterMs: number | 'absent';
};

const busy = (count: number, worker: SimulatedWorker = {}): readonly SimulatedWorker[] =>
  Array.from({ length: count }, () => worker);

/** The calls a second that the platform accepted between two times. */
function acceptedRate(
  departures: readonly Departure[],
  [fromMs, untilMs]: readonly [number, number],
): number {
  const accepted = departures.filter(({ atMs, refused }) => !refused && atMs >= fromMs && atMs < untilMs);
  return accepted.length / ((untilMs - fromMs) / 1000);
}

/** A platform with these spells one after another, and the time at which the last one ends. */
function platformOf(spells: readonly Spell[]) {
  let endMs = 0;
  const placed = spells.map((spell) => {
    const startMs = endMs + spell.afterMs;
    endMs = startMs + spell.lastsMs;
    return { ...spell, startMs, endMs };
  });
  const refuse = (atMs: number) =>
    placed.find(
      ({ startMs, endMs: until, onMs, everyMs }) =>
        atMs >= startMs && atMs < until && (atMs - startMs) % everyMs < onMs,
    )?.retryAfterMs;
  return { refuse, endMs };
}

/** The time after which the platform announced to accept calls: a `Retry-After` of at most a minute. */
const promisedMs = (retryAfterMs: number | 'absent' | undefined): number =>
  typeof retryAfterMs === 'number' && retryAfterMs <= 60_000 ? retryAfterMs : 0;

const steady = { onMs: 1, everyMs: 1 };
const spells = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 15_000 }),
    lastsMs: fc.integer({ min: 500, max: 40_000 }),
    flapping: fc.constantFrom(
      steady,
      { onMs: 1_500, everyMs: 2_000 },
      { onMs: 1_000, everyMs: 2_000 },
      { onMs: 300, everyMs: 1_100 },
      { onMs: 4_000, everyMs: 9_000 },
    ),
    retryAfterMs: fc.constantFrom<(number | 'absent')[]>(
      0,
      1_000,
      1_000,
      2_000,
      30_000,
      60_000,
      900_000,
      1e12,
      'absent',
    ),
  }),
  { minLength: 1, maxLength: 4 },
);
const plans = fc.record({
  rate: fc.oneof(
    { weight: 4, arbitrary: fc.double({ min: 0.5, max: 6, noNaN: true }) },
    fc.integer({ min: 1, max: 12 }),
  ),
  spells,
  workers: fc.array(
    fc.record({
      reserve: fc.constantFrom('single' as const, 'batch' as const),
      maxWaitMs: fc.constantFrom(20_000, Number.POSITIVE_INFINITY),
      loops: fc.integer({ min: 4, max: 8 }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  callMs: fc.constantFrom(20, 150, 400),
  unavailable: fc.option(
    fc.record({ fromMs: fc.integer({ min: 0, max: 60_000 }), lastsMs: fc.integer({ min: 1, max: 25_000 }) }),
  ),
});

test('half of the rate is used again within minutes after any 429s, or within one minute after a single 429, and no second exceeds the rate', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async ({ rate, spells: given, workers, callMs, unavailable }) => {
      const platform = platformOf(given.map(({ flapping, ...spell }) => ({ ...spell, ...flapping })));
      const measuredMs = Math.max(10_000, 20_000 / rate);
      const unavailableFromMs = unavailable?.fromMs ?? 0;
      const unavailableUntilMs = unavailableFromMs + (unavailable?.lastsMs ?? 0);
      let returnMs = Math.max(platform.endMs, unavailableUntilMs);
      const { departures } = await simulateFleet({
        rate,
        workers,
        durationMs: returnMs + 540_000 + measuredMs,
        isUnavailable: (atMs) => atMs >= unavailableFromMs && atMs < unavailableUntilMs,
        callMs: () => callMs,
        refuse(atMs) {
          const retryAfterMs = platform.refuse(atMs);
          if (retryAfterMs !== undefined) returnMs = Math.max(returnMs, atMs + promisedMs(retryAfterMs));
          return retryAfterMs;
        },
      });

      const isOutage = given.length === 1 && given[0]?.flapping === steady;
      const backMs = returnMs + (isOutage ? 60_000 : 480_000);
      const loops = workers.reduce((sum, worker) => sum + worker.loops, 0);
      const wanted = Math.min(rate, loops / ((callMs + 50) / 1000));
      expect(acceptedRate(departures, [backMs, backMs + measuredMs])).toBeGreaterThanOrEqual(wanted / 2);
      if (unavailable === null) expect(maxInASecond(departures)).toBeLessThanOrEqual(Math.ceil(rate));
    }),
    { numRuns: scaled(4, 150) },
  );
});

test('429s that keep the rate at its minimum until the platform recovers do not keep it there afterwards', async () => {
  const flapping = { onMs: 1_000, everyMs: 2_000, retryAfterMs: 0 };
  const platform = platformOf([
    { ...flapping, afterMs: 0, lastsMs: 25_909 },
    { ...steady, afterMs: 11, lastsMs: 500, retryAfterMs: 0 },
    { ...flapping, afterMs: 2, lastsMs: 20_496 },
  ]);
  const backMs = platform.endMs + 480_000;

  const { departures } = await simulateFleet({
    rate: 5,
    workers: busy(2, { reserve: 'single', maxWaitMs: 20_000, loops: 4 }),
    durationMs: backMs + 10_000,
    isUnavailable: (atMs) => atMs >= 13 && atMs < 6_109,
    callMs: () => 150,
    refuse: platform.refuse,
  });

  expect(acceptedRate(departures, [backMs, backMs + 10_000])).toBeGreaterThan(4.5);
  expect(maxInASecond(departures)).toBeLessThanOrEqual(5);
});

/** A table with this budget, and the budget. */
async function tableWith(start: Budget = emptyBudget) {
  const table = createMemoryTable();
  const item = createTableBudget({ table, host: HOST });
  await item.change('begin', () => start);
  return { table, item };
}

test.each([
  ['moved by a worker with a wrong clock', { ...emptyBudget, tatMs: EPOCH_MS + 3_600_000, rate: 2 }],
  [
    'moved by it while the rate was low',
    {
      ...emptyBudget,
      tatMs: EPOCH_MS + 3_600_000,
      incidents: 18,
      throttle: learnedTo(0.0033, EPOCH_MS - 60_000),
      rate: 2,
    },
  ],
])('a line that was %s recovers by itself', async (_, budget) => {
  const { departures } = await simulateFleet({
    rate: 2,
    workers: busy(3, { maxWaitMs: 20_000 }),
    durationMs: 80_000,
    table: (await tableWith(budget)).table,
  });

  expect(acceptedRate(departures, [60_000, 80_000])).toBeGreaterThan(1);
  expect(maxInASecond(departures)).toBeLessThanOrEqual(2);
});

test('a fleet obeys a cap that an operator sets while it runs', async () => {
  const { table, item } = await tableWith();
  const { departures } = await simulateFleet({
    rate: 20,
    workers: busy(4),
    durationMs: 20_000,
    table,
    // The operator sets the cap after about ten seconds.
    callMs: (call) => {
      if (call === 200) void item.change('cap', (budget) => ({ ...budget, capRate: 5 }));
      return 20;
    },
  });

  expect(acceptedRate(departures, [1_000, 9_000])).toBeGreaterThan(19);
  expect(acceptedRate(departures, [12_000, 20_000])).toBeGreaterThan(4.5);
  expect(maxInASecond(departures.filter(({ atMs }) => atMs > 12_000))).toBeLessThanOrEqual(5);
});

test('after 60 s of 429s with `Retry-After: 1`, which are few, the rate is normal within a few seconds', async () => {
  const { departures, budget } = await simulateFleet({
    rate: 2,
    workers: busy(4),
    durationMs: 100_000,
    refuse: (atMs) => (atMs >= 10_000 && atMs < 70_000 ? 1_000 : undefined),
  });

  expect(acceptedRate(departures, [76_000, 96_000])).toBeGreaterThan(1.85);
  expect(departures.filter(({ refused }) => refused).length).toBeLessThan(30);
  expect(budget.throttle?.rate).toBeCloseTo(1.9);
});

test('a table that becomes unavailable during a long pause does not prolong it', async () => {
  const { departures } = await simulateFleet({
    rate: 0.5,
    workers: busy(1, { maxWaitMs: 20_000 }),
    durationMs: 120_000,
    isUnavailable: (atMs) => atMs >= 3_000 && atMs < 25_000,
    refuse: (atMs) => (atMs < 500 ? 900_000 : undefined),
  });

  expect(acceptedRate(departures, [60_000, 120_000])).toBeGreaterThan(0.25);
});

import { describe, expect, test } from 'vitest';
import { type FleetPlan, maxInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';

const RATE = 20;
const WORKERS = 4;
const LAST_WRONG_MS = 30_000;
const BACK_MS = LAST_WRONG_MS + 60_000;
const END_MS = BACK_MS + 20_000;

const fleet = (worker: SimulatedWorker = {}): readonly SimulatedWorker[] =>
  Array.from({ length: WORKERS }, () => ({ maxWaitMs: 20_000, ...worker }));

/** The used shares of the rate while dates were wrong, and a minute after the last wrong one. */
async function fleetWith(dateOff: FleetPlan['dateOff'], plan: Partial<FleetPlan> = {}) {
  const workers = plan.workers ?? fleet();
  const given = { rate: RATE, hasDates: true, durationMs: END_MS, ...plan, workers, dateOff };
  const { departures, clocksOff } = await simulateFleet(given as FleetPlan);
  const share = (fromMs: number, untilMs: number) =>
    departures.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs).length /
    ((RATE * (untilMs - fromMs)) / 1000);
  return {
    during: share(10_000, LAST_WRONG_MS),
    after: share(BACK_MS, END_MS),
    max: maxInASecond(departures),
    clocksOff,
  };
}

const isWrong = (atMs: number) => atMs >= 10_000 && atMs < LAST_WRONG_MS;

/** Wrong dates for one worker: at most `count`, spread about evenly over 20 s. */
function scattered(count: number, worker: number, offsMs: readonly number[]): FleetPlan['dateOff'] {
  let given = 0;
  return (atMs, index) => {
    if (index !== worker || !isWrong(atMs) || given >= ((atMs - 10_000) / 20_000) * count) return 0;
    given += 1;
    return offsMs[given % offsMs.length] ?? 0;
  };
}

test.each([
  ['far ahead', [563_000]],
  ['far behind', [-563_000]],
  ['a little ahead', [4_000]],
  ['both ways', [563_000, -90_000, 2_500, -3_000, 86_400_000]],
])('24 wrong dates in 20 s at one worker, %s, do not lower the used rate', async (_, offsMs) => {
  const { during, after, max } = await fleetWith(scattered(24, 0, offsMs));

  expect(during).toBeGreaterThan(0.95);
  expect(after).toBeGreaterThan(0.95);
  expect(max).toBeLessThanOrEqual(RATE);
});

/** Every date is wrong by the same amount for 20 s. Three in a row agree, and are believed. */
const all =
  (offMs: number): FleetPlan['dateOff'] =>
  (atMs) =>
    isWrong(atMs) ? offMs : 0;
const ofOne =
  (offMs: number): FleetPlan['dateOff'] =>
  (atMs, worker) =>
    worker === 0 && isWrong(atMs) ? offMs : 0;

/** The fleet is throttled, and the table is unavailable, while the dates are wrong. */
const refuse = (atMs: number) => (atMs >= 14_000 && atMs < 15_000 ? 2_000 : undefined);
const isUnavailable = (atMs: number, worker: number) => worker === 0 && atMs >= 18_000 && atMs < 21_000;

describe('wrong dates in responses of the table for 20 s', () => {
  test.each([
    ['one worker’s, 563 s ahead', ofOne(563_000)],
    ['one worker’s, 563 s behind', ofOne(-563_000)],
    ['one worker’s, 90 s ahead', ofOne(90_000)],
    ['all, 563 s ahead', all(563_000)],
    ['all, 563 s behind', all(-563_000)],
    ['all, a day ahead', all(86_400_000)],
    ['all, 4 s ahead', all(4_000)],
    ['all, from a cache', (atMs: number) => (isWrong(atMs) ? 10_000 - atMs : 0)],
    ['all, missing', (atMs: number) => (isWrong(atMs) ? 'absent' : 0)],
    ['all, now ahead and now behind', (atMs: number) => (isWrong(atMs) ? 60_000 * Math.sin(atMs / 700) : 0)],
  ] satisfies readonly (readonly [string, FleetPlan['dateOff']])[])(
    'have no effect a minute later: %s',
    async (_, dateOff) => {
      const calm = await fleetWith(dateOff);
      const throttled = await fleetWith(dateOff, { refuse });
      const alone = await fleetWith(dateOff, { isUnavailable });
      expect(calm.after).toBeGreaterThan(0.95);
      // Throttling has left a lower rate behind.
      expect(throttled.after).toBeGreaterThan(0.65);
      expect(alone.after).toBeGreaterThan(0.95);
    },
  );

  test('do not stop calls for as long as they may wait, even if that is an hour', async () => {
    const workers = fleet({ maxWaitMs: 3_600_000 });

    const { after } = await fleetWith(all(86_400_000), { workers });

    expect(after).toBeGreaterThan(0.95);
  });
});

test.each([300_000, -300_000])(
  'a worker whose clock is set by %i ms while its dates are wrong works a minute later',
  async (byMs) => {
    const skewAt = (atMs: number) => (atMs < 20_000 ? 0 : byMs);
    const workers = [{ maxWaitMs: 20_000, skewAt }, ...fleet().slice(1)];

    const { after, max } = await fleetWith(scattered(24, 0, [563_000, -90_000]), { workers });

    expect(after).toBeGreaterThan(0.95);
    expect(max).toBeLessThanOrEqual(RATE);
  },
);

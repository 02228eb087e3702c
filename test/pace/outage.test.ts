import { describe, expect, test } from 'vitest';
import { maxInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';

const AWAY_MS = 8_000;
const BACK_MS = 31_000;

/** Workers whose calls take different times, so that they notice the outage and its end at different times. */
const workers = (count: number): readonly SimulatedWorker[] =>
  Array.from({ length: count }, (_, worker) => ({ loops: 8, restMs: worker * 3 }));

describe('while the table is unavailable', () => {
  test.each([
    [49, 8],
    [49, 10],
    [10, 3],
    [2, 4],
    [2, 1],
  ])(
    'only calls with reserved slots leave, and soon afterwards the rate is used again: %s a second with %s workers',
    async (rate, count) => {
      const { departures, outages } = await simulateFleet({
        rate,
        workers: workers(count),
        durationMs: 60_000,
        isUnavailable: (atMs) => atMs >= AWAY_MS && atMs < BACK_MS,
      });

      const inReserve = (count * 250 + 1_000) / 1_000 + count / rate;
      const within = (fromMs: number, untilMs: number) =>
        departures.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
      expect(within(AWAY_MS + 1_000 * inReserve, BACK_MS)).toEqual([]);
      expect(outages.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, worker) => worker));
      expect(within(BACK_MS + 5_000, 60_000).length / 24 / rate).toBeGreaterThan(0.95);
      expect(maxInASecond(departures)).toBeLessThanOrEqual(rate);
    },
  );
});

test('if a single worker is cut off from the table, the others use the whole rate until it returns', async () => {
  const { departures } = await simulateFleet({
    rate: 20,
    workers: workers(4),
    durationMs: 40_000,
    isUnavailable: (atMs, worker) => worker === 0 && atMs >= 5_000 && atMs < 15_000,
  });

  const share = (fromMs: number, untilMs: number) => {
    const within = departures.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
    return within.length / ((untilMs - fromMs) / 1_000) / 20;
  };
  expect(share(7_000, 15_000)).toBeGreaterThan(0.95);
  expect(share(18_000, 40_000)).toBeGreaterThan(0.95);
  expect(maxInASecond(departures)).toBeLessThanOrEqual(20);
  expect(departures.some(({ worker, atMs }) => worker === 0 && atMs > 18_000)).toBe(true);
});

test.each([500, 2_000, 20_000])(
  'calls that may wait for %i ms leave within a second of the table’s return',
  async (maxWaitMs) => {
    const { departures } = await simulateFleet({
      rate: 10,
      workers: [
        { maxWaitMs, loops: 4 },
        { maxWaitMs, reserve: 'single', loops: 1 },
      ],
      durationMs: 60_000,
      isUnavailable: (atMs) => atMs >= AWAY_MS && atMs < BACK_MS,
      unavailableMs: 5,
    });

    for (const worker of [0, 1]) {
      const back = departures.find((each) => each.worker === worker && each.atMs >= BACK_MS);
      expect((back?.atMs ?? Number.POSITIVE_INFINITY) - BACK_MS).toBeLessThanOrEqual(1_250);
    }
  },
);

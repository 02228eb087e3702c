import { describe, expect, test } from 'vitest';
import { mostInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';

const AWAY_MS = 8_000;
const BACK_MS = 31_000;

/** Workers whose calls take different times, so that they notice the outage and its end at different times. */
const workers = (count: number): readonly SimulatedWorker[] =>
  Array.from({ length: count }, (_, worker) => ({ loops: 8, restMs: worker * 3 }));

describe('while the table is away', () => {
  test.each([
    [49, 8],
    [49, 10],
    [10, 3],
    [2, 4],
    [2, 1],
  ])(
    'nothing leaves but what holds slots, and the rate is used again soon: %s a second with %s workers',
    async (rate, count) => {
      const { departures, outages } = await simulateFleet({
        rate,
        workers: workers(count),
        durationMs: 60_000,
        isAway: (atMs) => atMs >= AWAY_MS && atMs < BACK_MS,
      });

      const inReserve = (count * 250 + 1_000) / 1_000 + count / rate;
      const within = (fromMs: number, untilMs: number) =>
        departures.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
      expect(within(AWAY_MS + 1_000 * inReserve, BACK_MS)).toEqual([]);
      expect(outages.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, worker) => worker));
      expect(within(BACK_MS + 5_000, 60_000).length / 24 / rate).toBeGreaterThan(0.95);
      expect(mostInASecond(departures)).toBeLessThanOrEqual(rate);
    },
  );

  test('a call that may not wait as long is refused, and told when to come back', async () => {
    const { refusals, departures } = await simulateFleet({
      rate: 10,
      workers: [{ loops: 20, maxWaitMs: 5_000 }],
      durationMs: 60_000,
      isAway: (atMs) => atMs >= AWAY_MS && atMs < BACK_MS,
    });

    const back = departures.filter(({ atMs }) => atMs >= BACK_MS + 10_000 && atMs < 60_000);
    expect(refusals.length).toBeGreaterThan(20);
    expect(refusals.every(({ waitMs }) => waitMs > 5_000 && waitMs < 10_000)).toBe(true);
    expect(back.length / 19 / 10).toBeGreaterThan(0.95);
  });

  test('a 429 that came meanwhile is obeyed once the table is back', async () => {
    const { departures } = await simulateFleet({
      rate: 49,
      workers: workers(8),
      durationMs: 60_000,
      isAway: (atMs) => atMs >= AWAY_MS && atMs < 12_000,
      refuse: (atMs) => (atMs >= AWAY_MS && atMs < 12_000 ? 20_000 : undefined),
    });

    const early = departures.filter(({ atMs }) => atMs >= 12_000 && atMs < 26_000);
    expect(departures.some(({ refused }) => refused)).toBe(true);
    expect(early).toEqual([]);
  });
});

test('one worker that is cut off alone leaves the rate to the others, and returns', async () => {
  const { departures } = await simulateFleet({
    rate: 20,
    workers: workers(4),
    durationMs: 40_000,
    isAway: (atMs, worker) => worker === 0 && atMs >= 5_000 && atMs < 15_000,
  });

  const share = (fromMs: number, untilMs: number) => {
    const within = departures.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
    return within.length / ((untilMs - fromMs) / 1_000) / 20;
  };
  expect(share(7_000, 15_000)).toBeGreaterThan(0.95);
  expect(share(18_000, 40_000)).toBeGreaterThan(0.95);
  expect(mostInASecond(departures)).toBeLessThanOrEqual(20);
  expect(departures.some(({ worker, atMs }) => worker === 0 && atMs > 18_000)).toBe(true);
});

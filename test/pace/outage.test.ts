import { describe, expect, test } from 'vitest';
import { mostInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';

/** Workers whose calls take different times, so that they notice the outage and its end at different times. */
const workers = (count: number): readonly SimulatedWorker[] =>
  Array.from({ length: count }, (_, worker) => ({ loops: 8, restMs: worker * 3 }));

describe('while the table is away and after it is back', () => {
  test.each([
    [49, 8],
    [49, 10],
    [10, 3],
    [5, 4],
    [2, 4],
    [2, 10],
    [2, 1],
  ])(
    'no second holds more than the rate, %s a second with %s workers, and soon it is used again',
    async (rate, count) => {
      const { departures, outages } = await simulateFleet({
        rate,
        workers: workers(count),
        durationMs: 70_000,
        // By then each worker has had a slot.
        isAway: (atMs) => atMs >= 8_000 && atMs < 31_000,
      });

      const safe = departures.filter(({ slot }) => slot.incidents === undefined);
      const back = departures.filter(({ atMs }) => atMs >= 55_000 && atMs < 70_000);
      expect(new Set(outages).size).toBe(count);
      expect(safe.length / 20).toBeGreaterThan(rate / 4);
      expect(mostInASecond(departures)).toBeLessThanOrEqual(rate);
      expect(back.length / 15 / rate).toBeGreaterThan(0.95);
    },
  );

  test('one worker that is cut off alone takes nothing from the others when it returns', async () => {
    const { departures } = await simulateFleet({
      rate: 20,
      workers: workers(4),
      durationMs: 40_000,
      isAway: (atMs, worker) => worker === 0 && atMs >= 5_000 && atMs < 15_000,
    });

    const after = departures.filter(({ atMs }) => atMs >= 16_000 && atMs < 40_000);
    expect(after.length / 24 / 20).toBeGreaterThan(0.95);
  });
});

import { expect, test } from 'vitest';
import { createMemoryBudget, emptyBudget } from '../../lib/pace/budget.ts';
import { createFleetPace } from '../../lib/pace/fleet-pace.ts';
import { createSlidingWindow } from '../../lib/sandbox/platform/options.ts';
import { type FleetPlan, maxInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';
import { learnedTo } from './throttled.ts';
import { createVirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;

/** Four workers of each of two operations, all of them busy. */
const workers: readonly SimulatedWorker[] = Array.from({ length: 8 }, (_, at) => ({
  operation: at % 2 === 0 ? 'score' : 'run',
  maxWaitMs: 20_000,
}));

const run = (refuse: NonNullable<FleetPlan['refuse']>, minutes = 10) =>
  simulateFleet({ rate: 10, workers, durationMs: minutes * MINUTE, refuse });

type Run = Awaited<ReturnType<typeof run>>;

/** The calls of an operation per second, and the share that was refused, between two minutes. */
function usedOf({ departures }: Run, operation: string, [from, until]: readonly [number, number]) {
  const within = departures.filter(
    ({ worker, atMs }) =>
      workers[worker]?.operation === operation && atMs >= from * MINUTE && atMs < until * MINUTE,
  );
  const accepted = within.filter(({ refused }) => !refused).length;
  return { rate: accepted / ((until - from) * 60), refused: within.length - accepted, calls: within.length };
}

test.each([
  ['with `Retry-After`', 1_000],
  ['without', 'absent'],
] as const)(
  'an operation whose calls all get a 429 %s leaves the whole rate to other operations',
  async (_, says) => {
    const fleet = await run((_atMs, operation) => (operation === 'score' ? says : undefined));

    const [others, refused] = [usedOf(fleet, 'run', [1, 10]), usedOf(fleet, 'score', [2, 10])];
    expect(others.rate).toBeGreaterThan(9.3);
    expect(refused.refused).toBeLessThan(8 * 15);
    expect(refused.calls).toBeGreaterThan(8);
    expect(maxInASecond(fleet.departures)).toBeLessThanOrEqual(10);
  },
);

test('an operation with a separate limit stays below it, and other operations use the rest', async () => {
  const limiter = createSlidingWindow(3);

  const fleet = await run((atMs, operation) => {
    const decision = operation === 'score' ? limiter.arrive(atMs) : undefined;
    return decision?.kind === 'refused' ? 1_000 : undefined;
  });

  const [own, others] = [usedOf(fleet, 'score', [2, 10]), usedOf(fleet, 'run', [2, 10])];
  expect(own.rate).toBeGreaterThan(2.1);
  expect(own.refused / own.calls).toBeLessThan(0.02);
  expect(own.rate + others.rate).toBeGreaterThan(9.3);
});

test('a limit for all operations together slows the whole fleet', async () => {
  const limiter = createSlidingWindow(6);

  const fleet = await run((atMs) => (limiter.arrive(atMs).kind === 'refused' ? 'absent' : undefined));

  const both = [usedOf(fleet, 'score', [2, 10]), usedOf(fleet, 'run', [2, 10])];
  expect(both.reduce((sum, { rate }) => sum + rate, 0)).toBeGreaterThan(5.4);
  expect(both.reduce((sum, { refused }) => sum + refused, 0) / (6 * 480)).toBeLessThan(0.01);
  expect(fleet.budget.throttle?.kind).toBe('learned');
});

test('a quota that is used up and returns is used again within a minute, and stops nothing else', async () => {
  const fleet = await run(
    (atMs, operation) =>
      operation === 'score' && atMs > 3 * MINUTE && atMs < 13 * MINUTE ? 'absent' : undefined,
    20,
  );

  expect(usedOf(fleet, 'run', [4, 13]).rate).toBeGreaterThan(9.3);
  expect(usedOf(fleet, 'score', [14, 20]).rate).toBeGreaterThan(4);
  expect(fleet.budget.operations?.['score']?.aloneSinceMs).toBeUndefined();
});

test.each([
  [0.1, 85_000, 'score'],
  [0.1, 120_000, undefined],
  [4, 15_000, undefined],
])(
  'at %d a second, a call of another operation that was accepted %i ms ago shows that a 429 is only about: %s',
  async (rate, agoMs, alone) => {
    const clock = createVirtualClock();
    await clock.finish(clock.sleep(1_000_000));
    const item = createMemoryBudget({
      ...emptyBudget,
      rate: 4,
      throttle: learnedTo(rate, clock.now()),
      operations: {
        run: { answeredAtMs: clock.now() - agoMs },
        score: { refusedAtMs: clock.now() - 200_000 },
      },
    });
    const pace = createFleetPace({ item, rate: 4, concurrency: 1, ...clock });

    await clock.finish(pace.run((slot) => pace.throttled(slot), { operation: 'score' }));

    const { operations = {} } = await item.read();
    const found = Object.keys(operations).find((name) => operations[name]?.aloneSinceMs !== undefined);
    expect(found).toBe(alone);
  },
);

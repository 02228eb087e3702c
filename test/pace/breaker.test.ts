import { describe, expect, test } from 'vitest';
import { type CallOutcome, createFleetBreaker } from '../../lib/pace/breaker.ts';
import { createMemoryBudget } from '../../lib/pace/budget.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { createVirtualClock } from './virtual-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

type Worker = {
  /** The outcome of a call of this worker's jobs at a time. */
  readonly call: (atMs: number) => CallOutcome;
  /** The outcome of its probes. Default: as `call`. */
  readonly probe?: (atMs: number) => CallOutcome;
  /** When the worker stops, as if by `kill -9`. */
  readonly diesMs?: number;
  readonly skewMs?: number;
};

/** Runs workers in virtual time, each of which takes one job after another, two a second. */
async function runFleet(
  workers: readonly Worker[],
  untilMs: number,
  isTableUnavailable = (_: number) => false,
) {
  const clock = createVirtualClock();
  const memory = createMemoryBudget();
  const seen = { calls: [] as number[][], probes: [] as number[], reads: 0, writes: 0 };
  const over =
    <Args extends readonly unknown[], T>(kind: 'reads' | 'writes', act: (...given: Args) => Promise<T>) =>
    async (...given: Args) => {
      seen[kind] += 1;
      await clock.sleep(5);
      if (isTableUnavailable(clock.now()))
        throw new TableError('ask', { kind: 'unreachable', code: 'ECONNREFUSED' });
      return act(...given);
    };
  const item = { read: over('reads', memory.read), change: over('writes', memory.change) };
  const run = async ({ call, probe = call, diesMs = untilMs, skewMs = 0 }: Worker) => {
    const calls: number[] = [];
    seen.calls.push(calls);
    const isAlive = () => clock.now() < Math.min(diesMs, untilMs);
    const now = () => clock.now() + skewMs;
    const breaker = createFleetBreaker({
      item,
      clock: { now, sleep: clock.sleep },
      probe: async () => {
        await clock.sleep(50);
        if (!isAlive()) return new Promise<never>(() => undefined);
        seen.probes.push(clock.now());
        return probe(clock.now());
      },
    });
    while (isAlive()) {
      const blockedMs = await breaker.blockedMs();
      if (blockedMs !== undefined) {
        await clock.sleep(blockedMs + 1);
        continue;
      }
      calls.push(clock.now());
      await clock.sleep(50);
      breaker.ended(call(clock.now()), 50);
      await clock.sleep(450);
    }
  };
  for (const worker of workers) void run(worker);
  await clock.run(untilMs + MINUTE);
  const between = (fromMs: number, toMs: number) =>
    seen.calls.map((calls) => calls.filter((atMs) => atMs >= fromMs && atMs < toMs).length);
  return { ...seen, between };
}

const unavailableBetween =
  (fromMs: number, toMs: number, outcome: CallOutcome = 'unreachable') =>
  (atMs: number): CallOutcome =>
    atMs >= fromMs && atMs < toMs ? outcome : 'answered';

describe('an outage of an hour', () => {
  const call = unavailableBetween(MINUTE, 61 * MINUTE);

  test('stops all workers within seconds, and causes one probe every ten seconds for its first ten minutes', async () => {
    const { between, probes } = await runFleet([{ call }, { call }, { call }], 30 * MINUTE);

    expect(between(MINUTE + 5 * SECOND, 30 * MINUTE)).toEqual([0, 0, 0]);
    const later = probes.filter((atMs) => atMs >= 10 * MINUTE && atMs < 20 * MINUTE);
    expect(later.length).toBeGreaterThan(20);
    expect(later.length).toBeLessThanOrEqual(60);
  });

  test('ends for all workers within a minute of the platform’s return', async () => {
    const { between } = await runFleet([{ call }, { call }, { call }], 63 * MINUTE);

    for (const calls of between(62 * MINUTE, 63 * MINUTE)) expect(calls).toBeGreaterThan(100);
  });

  test('ends even if the probing worker dies', async () => {
    const dying = [2, 3, 4].map((minute) => ({ call, diesMs: minute * MINUTE + 10_030 }));

    const { between } = await runFleet([...dying, { call }], 63 * MINUTE);

    expect(between(62 * MINUTE, 63 * MINUTE).at(-1)).toBeGreaterThan(100);
  });

  test('ends even if the clock of one worker is five minutes ahead, and that worker dies', async () => {
    const ahead = { call, skewMs: 5 * MINUTE, diesMs: 60 * MINUTE };

    const { between } = await runFleet([ahead, { call }], 63 * MINUTE);

    expect(between(62 * MINUTE, 63 * MINUTE).at(-1)).toBeGreaterThan(100);
  });

  test('stops each worker separately if the table is unavailable at the same time', async () => {
    const { between } = await runFleet([{ call }, { call }], 63 * MINUTE, (atMs) => atMs > MINUTE);

    expect(between(MINUTE + 5 * SECOND, 61 * MINUTE)).toEqual([0, 0]);
    for (const calls of between(62 * MINUTE, 63 * MINUTE)) expect(calls).toBeGreaterThan(100);
  });
});

test('a breaker that stays closed is never written, and each worker reads it at most every half minute', async () => {
  const call = () => 'answered' as const;

  const { reads, writes, probes } = await runFleet([{ call }, { call }], 10 * MINUTE);

  expect(writes).toBe(0);
  expect(probes).toEqual([]);
  expect(reads).toBeLessThanOrEqual(2 * 21);
});

// A refused token is recorded once.
test.for([
  ['server errors', 0],
  ['refused token', 1],
  ['not the platform', 0],
] as const)(
  'jobs that fail by their own fault (%s) do not open the breaker, because a probe gets a response',
  async ([outcome, written]) => {
    const failing = { call: () => outcome, probe: () => 'answered' as const };

    const { between, writes } = await runFleet([failing, { call: () => 'answered' }], 10 * MINUTE);

    expect(writes).toBe(written);
    for (const calls of between(0, 10 * MINUTE)) expect(calls).toBeGreaterThan(1_100);
  },
);

test('a fault of less than two seconds does not open the breaker', async () => {
  const call = unavailableBetween(MINUTE, MINUTE + 1_800);

  const { writes } = await runFleet([{ call }], 2 * MINUTE);

  expect(writes).toBe(0);
});

test('if a single worker is cut off, it stops the other workers once, for seconds, and then only itself', async () => {
  const cut = { call: unavailableBetween(MINUTE, 9 * MINUTE, 'refused token') };
  const sound = { call: () => 'answered' as const };

  const { between } = await runFleet([cut, sound], 10 * MINUTE);

  const [ofCut = 0, ofSound = 0] = between(2 * MINUTE, 9 * MINUTE);
  expect(ofCut).toBeLessThan(60);
  expect(ofSound).toBeGreaterThan(7 * 120 * 0.9);
  expect(between(9.5 * MINUTE, 10 * MINUTE)[0]).toBeGreaterThan(50);
});

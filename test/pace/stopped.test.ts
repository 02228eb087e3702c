import { describe, expect, test } from 'vitest';
import { createMemoryBudget, emptyBudget } from '../../lib/pace/budget.ts';
import { createFleetPace } from '../../lib/pace/fleet-pace.ts';
import { PaceWaitError } from '../../lib/pace/pace.ts';
import { createVirtualClock } from './virtual-clock.ts';

const HOUR = 3_600_000;

/** The process is stopped after one second, for an hour. */
const isStopped = (ms: number) => ms >= 1_000 && ms < 1_000 + HOUR;

/** After SIGSTOP all clocks continue; while a laptop sleeps, its monotonic clock stands still. */
const stops = [
  ['by SIGSTOP', (ms: number) => ms],
  ['as a laptop that sleeps', (ms: number) => (ms < 1_000 ? ms : Math.max(1_000, ms - HOUR))],
] as const;

/** Runs twenty calls at 2 a second, which may wait 20 s, in a process that is stopped. Returns when each leaves. */
async function callsOf(steadyOf: (ms: number) => number, inFlight: number) {
  const clock = createVirtualClock();
  const sleep = async (ms: number, signal?: AbortSignal) => {
    await clock.sleep(ms, signal);
    // A timer of a stopped process fires when the process continues.
    if (isStopped(clock.now())) await clock.sleep(1_000 + HOUR - clock.now(), signal);
  };
  const pace = createFleetPace({
    item: createMemoryBudget({ ...emptyBudget, driftMs: 0 }),
    rate: 2,
    concurrency: inFlight,
    maxWaitMs: 20_000,
    now: clock.now,
    steady: () => steadyOf(clock.now()),
    sleep,
  });
  const leftAt: number[] = [];
  const putOff: number[] = [];
  const call = async () => {
    for (;;) {
      try {
        await pace.run(async () => {
          leftAt.push(clock.now());
          await sleep(100);
        });
        return;
      } catch (error) {
        if (!(error instanceof PaceWaitError)) throw error;
        putOff.push(error.waitMs);
        await sleep(error.waitMs);
      }
    }
  };
  await clock.finish(Promise.all(Array.from({ length: 20 }, call)));
  return { leftAt, putOff };
}

describe.each(stops)('after a process was suspended for an hour (%s),', (_, steadyOf) => {
  test.each([1, 8, 20])('waiting calls leave immediately, with %i in flight', async (inFlight) => {
    const { leftAt, putOff } = await callsOf(steadyOf, inFlight);

    expect(leftAt).toHaveLength(20);
    expect(Math.max(...leftAt)).toBeLessThan(1_000 + HOUR + 13_000);
    expect(Math.max(0, ...putOff)).toBeLessThan(11_000);
  });
});

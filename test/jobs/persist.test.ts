import { expect, test } from 'vitest';
import { type PersistOptions, persist } from '../../lib/jobs/record-end.ts';

/** Options over a clock that only sleeps move; `troubles` are the times at which there was trouble. */
function persisting(untilMs: number) {
  const clock = { nowMs: 0 };
  const troubles: number[] = [];
  const options: PersistOptions = {
    untilMs: () => untilMs,
    onTrouble: () => void troubles.push(clock.nowMs),
    now: () => clock.nowMs,
    async sleep(ms, signal) {
      // Whatever can settle does so first.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      clock.nowMs += ms;
    },
    random: () => 0.5,
  };
  return { clock, troubles, options };
}

const away = () => Promise.reject(new Error('away'));

test('what succeeds is done once, without trouble', async () => {
  const { clock, troubles, options } = persisting(10_000);

  expect(await persist(async () => 'done', options)).toBe('done');
  expect([clock.nowMs, troubles]).toEqual([0, []]);
});

test('what fails is tried as long as the next try begins before the time is over', async () => {
  const { troubles, options } = persisting(3_000);

  await expect(persist(away, options)).rejects.toThrow('away');

  // Waits of 200, 400, 800 and 1,600 ms: the last try would begin at the end.
  expect(troubles).toEqual([0, 200, 600, 1_400]);
});

test('the time may be moved while it is tried', async () => {
  const { clock, troubles, options } = persisting(Number.POSITIVE_INFINITY);
  const untilMs = () => (clock.nowMs < 600 ? Number.POSITIVE_INFINITY : 601);

  await expect(persist(away, { ...options, untilMs })).rejects.toThrow('away');

  expect(troubles).toEqual([0, 200, 600]);
});

test('a try that hangs is trouble every two seconds, and ends with the time', async () => {
  const { clock, troubles, options } = persisting(5_000);
  const hangs = () => new Promise<never>(() => undefined);

  await expect(persist(hangs, options)).rejects.toThrow('no response after 2000 ms or more');

  expect(troubles).toEqual([2_000, 4_000, 5_000]);
  expect(clock.nowMs).toBe(5_000);
});

test('what fails or hangs is treated the same if nobody asked to hear of it', async () => {
  const { onTrouble: _, ...quiet } = persisting(5_000).options;
  let tries = 0;

  expect(await persist(async () => (tries++ === 0 ? away() : 'done'), quiet)).toBe('done');
  await expect(persist(() => new Promise<never>(() => undefined), quiet)).rejects.toThrow('no response');
});

test('a time that is over already waits for nothing', async () => {
  const { clock, troubles, options } = persisting(-5_000);
  const hangs = () => new Promise<never>(() => undefined);

  await expect(persist(hangs, options)).rejects.toThrow('no response');

  expect([clock.nowMs, troubles]).toEqual([0, [0]]);
});

import { expect, test } from 'vitest';
import { retryUntil } from '../../lib/base/index.ts';

/** Options over a clock that only sleeps move. `troubles`: the times at which trouble was reported. */
function retrying(untilMs: number) {
  const clock = { nowMs: 0 };
  const troubles: number[] = [];
  const options = {
    slowMs: 2_000,
    untilMs: () => untilMs,
    onTrouble: () => void troubles.push(clock.nowMs),
    now: () => clock.nowMs,
    async sleep(ms: number, signal?: AbortSignal) {
      // Everything that can settle does so first.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      clock.nowMs += ms;
    },
    random: () => 0.5,
  };
  return { clock, troubles, options };
}

const unavailable = () => Promise.reject(new Error('unavailable'));

test('a call that succeeds is made once, and no trouble is reported', async () => {
  const { clock, troubles, options } = retrying(10_000);

  expect(await retryUntil(async () => 'done', options)).toBe('done');
  expect([clock.nowMs, troubles]).toEqual([0, []]);
});

test('a failing call is repeated as long as the next try begins before the time limit', async () => {
  const { troubles, options } = retrying(3_000);

  await expect(retryUntil(unavailable, options)).rejects.toThrow('unavailable');

  // After the waits of 200, 400 and 800 ms, one of 1,600 ms would end at the time limit.
  expect(troubles).toEqual([0, 200, 600, 1_400]);
});

test('the time limit may change between tries', async () => {
  const { clock, troubles, options } = retrying(Number.POSITIVE_INFINITY);
  const untilMs = () => (clock.nowMs < 600 ? Number.POSITIVE_INFINITY : 601);

  await expect(retryUntil(unavailable, { ...options, untilMs })).rejects.toThrow('unavailable');

  expect(troubles).toEqual([0, 200, 600]);
});

test('a try that hangs is reported as trouble every two seconds, and ends at the time limit', async () => {
  const { clock, troubles, options } = retrying(5_000);
  const hangs = () => new Promise<never>(() => undefined);

  await expect(retryUntil(hangs, options)).rejects.toThrow('no response after 2000 ms or more');

  expect(troubles).toEqual([2_000, 4_000, 5_000]);
  expect(clock.nowMs).toBe(5_000);
});

test('a call that fails or hangs is treated the same if no callback is given', async () => {
  const { onTrouble: _, ...quiet } = retrying(5_000).options;
  let tries = 0;

  expect(await retryUntil(async () => (tries++ === 0 ? unavailable() : 'done'), quiet)).toBe('done');
  await expect(retryUntil(() => new Promise<never>(() => undefined), quiet)).rejects.toThrow('no response');
});

test('a time limit in the past ends the first try immediately', async () => {
  const { clock, troubles, options } = retrying(-5_000);
  const hangs = () => new Promise<never>(() => undefined);

  await expect(retryUntil(hangs, options)).rejects.toThrow('no response');

  expect([clock.nowMs, troubles]).toEqual([0, [0]]);
});

test('a permanent error ends the tries immediately', async () => {
  const { clock, troubles, options } = retrying(10_000);
  const full = new Error('the disk is full');

  const ended = retryUntil(() => Promise.reject(full), { ...options, mayPass: (error) => error !== full });

  await expect(ended).rejects.toBe(full);
  expect([clock.nowMs, troubles]).toEqual([0, [0]]);
});

test('each try receives its number, and the waits between tries are those configured', async () => {
  const { clock, options } = retrying(10_000);
  const seen: number[] = [];
  const work = async (tries: number) => {
    seen.push(tries);
    return tries < 3 ? unavailable() : 'done';
  };

  expect(await retryUntil(work, { ...options, waitMs: (retry) => retry * 1_000 })).toBe('done');
  expect([seen, clock.nowMs]).toEqual([[1, 2, 3], 3_000]);
});

test('without `slowMs`, a try may take any time', async () => {
  const { slowMs: _, ...options } = retrying(5_000).options;
  const slow = Promise.withResolvers<string>();

  const trying = retryUntil(() => slow.promise, options);
  slow.resolve('done');

  expect(await trying).toBe('done');
});

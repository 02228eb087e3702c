import { expect, test } from 'vitest';
import { once } from '../lib/once.ts';

test('opens when it is first called, and once for all who ask meanwhile and later', async () => {
  let opened = 0;
  const open = once(async () => {
    opened += 1;
    return { number: opened };
  });
  expect(opened).toBe(0);

  const [first, second] = await Promise.all([open(), open()]);

  expect(first).toBe(second);
  expect(await open()).toBe(first);
  expect(opened).toBe(1);
});

test('forgets an attempt that failed: the next call tries again', async () => {
  const attempts = [() => Promise.reject(new Error('away')), () => Promise.resolve('here')];
  const open = once(() => attempts.shift()?.() ?? Promise.resolve('too often'));

  const both = await Promise.allSettled([open(), open()]);

  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await open()).toBe('here');
  expect(await open()).toBe('here');
});

test('a function that throws at once rejects, and is called again', async () => {
  let calls = 0;
  const open = once(() => {
    calls += 1;
    throw new Error(`call ${calls}`);
  });

  await expect(open()).rejects.toThrow('call 1');
  await expect(open()).rejects.toThrow('call 2');
});

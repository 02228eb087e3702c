import { expect, test } from 'vitest';
import { once } from '../../lib/base/async.ts';

test('the first call opens the resource, and concurrent and later calls share it', async () => {
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

test('after a failed attempt, the next call tries again', async () => {
  const attempts = [() => Promise.reject(new Error('unavailable')), () => Promise.resolve('opened')];
  const open = once(() => attempts.shift()?.() ?? Promise.resolve('too often'));

  const both = await Promise.allSettled([open(), open()]);

  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await open()).toBe('opened');
  expect(await open()).toBe('opened');
});

test('a function that throws synchronously causes a rejection, and is called again', async () => {
  let calls = 0;
  const open = once(() => {
    calls += 1;
    throw new Error(`call ${calls}`);
  });

  await expect(open()).rejects.toThrow('call 1');
  await expect(open()).rejects.toThrow('call 2');
});

import { expect, test } from 'vitest';
import { createFailures } from '../../lib/report/after-publishing.ts';
import { createMemoryStore } from '../store/memory-store.ts';

const MINUTE = 60_000;

/** Failures in a store whose clock the test moves, and what was reported. */
function startFailures(store = createMemoryStore()) {
  const often: number[] = [];
  const clock = { minutes: 0 };
  const failures = createFailures({
    store,
    now: () => clock.minutes * MINUTE,
    onOften: (times) => often.push(times),
  });
  return { failures, clock, often };
}

test('the third failure within 70 minutes is reported, and a single failure is not', async () => {
  const { failures, clock, often } = startFailures();

  for (const minutes of [0, 60, 80, 100]) {
    clock.minutes = minutes;
    await failures.add();
  }

  expect(often).toEqual([3]);
});

test('work whose process was killed counts as failed', async () => {
  const { failures, clock, often } = startFailures();

  for (const minutes of [0, 20, 40]) {
    clock.minutes = minutes;
    void failures.during(() => new Promise(() => undefined));
    await new Promise(setImmediate);
  }
  clock.minutes = 60;
  await failures.during(async () => undefined);

  expect(often).toEqual([3]);
});

test('work that ended does not count as failed, and the caller adds work that threw', async () => {
  const { failures, often } = startFailures();

  for (let count = 0; count < 5; count += 1) {
    await failures.during(async () => undefined);
    await expect(failures.during(() => Promise.reject(new Error('full')))).rejects.toThrow('full');
  }

  expect(often).toEqual([]);
});

test('if the store is unavailable, a failure is reported immediately', async () => {
  const store = createMemoryStore();
  const away = {
    ...store,
    get: async () => {
      throw new Error('away');
    },
  };
  const { failures, often } = startFailures(away);

  await failures.add();

  expect(often).toHaveLength(1);
});

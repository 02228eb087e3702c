import { expect, test } from 'vitest';
import { followPublications } from '../../lib/report/after-publishing.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { createMemoryStore } from '../store/memory-store.ts';

const MINUTE = 60_000;

/** Failure tracking over a store with a run that no report shows. The test sets the clock. `often`: the reported numbers. */
async function startCalls(store = createMemoryStore()) {
  const often: number[] = [];
  const clock = { minutes: 0 };
  await store.put(
    'calculations/latest.json',
    printStored({ run: 'a', manifest: 'm', startedAt: '2026-11-22' }),
  );
  const callAt = (minutes: number, write: () => Promise<readonly string[]>) => {
    clock.minutes = minutes;
    const follow = followPublications({
      store,
      environment: {},
      write,
      renew: async () => undefined,
      now: () => clock.minutes * MINUTE,
      warn: () => undefined,
      onOftenFailed: (times) => often.push(times),
    });
    return follow({ places: [] }, new AbortController().signal);
  };
  return { callAt, often };
}

const fail = () => Promise.reject(new Error('full'));
const succeed = async () => [];

test('the third failure within 70 minutes is reported, and a single failure is not', async () => {
  const { callAt, often } = await startCalls();

  for (const minutes of [0, 60, 80, 100]) await expect(callAt(minutes, fail)).rejects.toThrow('full');

  expect(often).toEqual([3]);
});

test('a call whose process was killed counts as failed', async () => {
  const { callAt, often } = await startCalls();

  for (const minutes of [0, 20, 40]) {
    await new Promise<void>((resolve) => {
      void callAt(minutes, () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
  }
  await callAt(60, succeed);

  expect(often).toEqual([3]);
});

test('calls that succeeded do not count as failed, however many there are', async () => {
  const { callAt, often } = await startCalls();

  for (let minutes = 0; minutes < 50; minutes += 10) await callAt(minutes, succeed);

  expect(often).toEqual([]);
});

test('if the store is unavailable, a failure is reported immediately', async () => {
  const store = createMemoryStore();
  const unavailable = {
    ...store,
    get: async () => {
      throw new Error('unavailable');
    },
  };
  const { callAt, often } = await startCalls(unavailable);

  await expect(callAt(0, succeed)).rejects.toThrow('unavailable');

  expect(often).toHaveLength(1);
});

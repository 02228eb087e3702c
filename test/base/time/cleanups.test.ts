import { expect, test } from 'vitest';
import { type Cleanups, createCleanups } from '../../../lib/base/time/cleanups.ts';

/** Cleanups that write their names down. */
function recorded(cleanups: Cleanups) {
  const done: string[] = [];
  cleanups.defer(async () => done.push('called'));
  cleanups.use({ [Symbol.dispose]: () => void done.push('disposed of') });
  cleanups.use({ [Symbol.asyncDispose]: async () => void done.push('disposed of later') });
  return done;
}

test('cleanups are done once, the last first', async () => {
  const cleanups = createCleanups();
  const done = recorded(cleanups);

  await cleanups[Symbol.asyncDispose]();
  await cleanups[Symbol.asyncDispose]();

  expect(done).toEqual(['disposed of later', 'disposed of', 'called']);
});

test('cleanups that were moved are done by whoever has them', async () => {
  const cleanups = createCleanups();
  const done = recorded(cleanups);

  const moved = cleanups.move();
  await cleanups[Symbol.asyncDispose]();
  const before = [...done];
  await moved[Symbol.asyncDispose]();

  expect(before).toEqual([]);
  expect(done).toHaveLength(3);
});

test('a cleanup that fails stops no other', async () => {
  const cleanups = createCleanups();
  const done = recorded(cleanups);
  cleanups.defer(() => Promise.reject(new Error('first')));

  await expect(cleanups[Symbol.asyncDispose]()).rejects.toThrow('first');
  expect(done).toHaveLength(3);
});

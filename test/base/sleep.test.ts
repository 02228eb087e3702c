import { expect, test } from 'vitest';
import { sleep } from '../../lib/base/async.ts';

test('a sleep rejects with the reason of its aborted signal', async () => {
  const stop = new AbortController();
  const sleeping = sleep(60_000, stop.signal);

  stop.abort(new Error('stopped'));

  await expect(sleeping).rejects.toThrow('stopped');
});

test('a sleep of a negative time ends immediately', async () => {
  await expect(sleep(-5)).resolves.toBeUndefined();
});

test('a sleep lasts as long as requested', async () => {
  const startMs = performance.now();

  await sleep(20);

  expect(performance.now() - startMs).toBeGreaterThan(18);
});

import { getEventListeners } from 'node:events';
import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { enqueue } from '../../lib/pace/fair-queue.ts';

/** A queue that runs one task at a time, with a task under way until `end` is called. */
function busyQueue(signal?: AbortSignal) {
  const queue = new PQueue({ concurrency: 1 });
  const { promise, resolve } = Promise.withResolvers<string>();
  return { queue, running: enqueue(queue, () => promise, signal), end: () => resolve('done') };
}

test('a task that is aborted while it waits leaves the queue with the signal’s reason', async () => {
  const { queue, running, end } = busyQueue();
  const stop = new AbortController();
  const started: string[] = [];
  const waiting = enqueue(queue, async () => started.push('second'), stop.signal);

  stop.abort(new Error('enough'));

  await expect(waiting).rejects.toThrow('enough');
  end();
  expect(await running).toBe('done');
  await queue.onIdle();
  expect(started).toEqual([]);
});

test('a running task is not aborted by the signal that would have removed it from the queue', async () => {
  const stop = new AbortController();
  const { queue, running, end } = busyQueue(stop.signal);
  await queue.onSizeLessThan(1);
  const listeners = getEventListeners(stop.signal, 'abort').length;

  stop.abort(new Error('enough'));
  end();

  expect(listeners).toBe(0);
  expect(await running).toBe('done');
});

test('a task whose signal was already aborted never waits', async () => {
  const { queue, running, end } = busyQueue();

  await expect(enqueue(queue, async () => 1, AbortSignal.abort(new Error('enough')))).rejects.toThrow(
    'enough',
  );

  expect(queue.size).toBe(0);
  end();
  await running;
});

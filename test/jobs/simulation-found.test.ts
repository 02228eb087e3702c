import { expect, test } from 'vitest';
import { handleMessage } from '../../lib/jobs/handle-message.ts';
import type { Store } from '../../lib/store/store.ts';
import { fakeWorker, invocationLease, messageOf, runFunctionJob } from './fake-worker.ts';

/* Defects that the simulation once found, each as a plain test. */

const loggedLease = (bench: Parameters<typeof invocationLease>[0], order: string[]) => ({
  ...invocationLease(bench),
  holdLease: () => ({
    signal: new AbortController().signal,
    [Symbol.asyncDispose]: async () => void order.push('give the lease up'),
  }),
});

test('a lease is released after the result is written, so that a failure to write it is reported', async () => {
  const bench = fakeWorker({ 'run-function': async () => ({ status: 'done' }) });
  const order: string[] = [];
  const store: Store = {
    ...bench.store,
    put: async () => {
      order.push('write the result');
      throw new Error('the store is unavailable');
    },
  };

  const handled = handleMessage(
    messageOf(runFunctionJob),
    { ...bench.worker, store },
    loggedLease(bench, order),
  );

  await expect(handled).rejects.toThrow('the store is unavailable');
  expect(order).toEqual(['write the result', 'give the lease up']);
});

test('a job is requeued before its lease is released', async () => {
  const bench = fakeWorker({
    'run-function': async () => {
      throw new Error('the store is unavailable');
    },
  });
  const order: string[] = [];
  const ledger: typeof bench.ledger = {
    ...bench.ledger,
    release: async (holder) => {
      const released = await bench.ledger.release(holder);
      order.push(released.kind);
      return released;
    },
  };

  await handleMessage(messageOf(runFunctionJob), { ...bench.worker, ledger }, loggedLease(bench, order));

  expect(order).toEqual(['released', 'give the lease up']);
});

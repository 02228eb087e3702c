import { expect, test } from 'vitest';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import type { Queue, QueueMessage } from '../../lib/jobs/queue/queue.ts';
import { work } from '../../lib/jobs/work.ts';
import type { Table } from '../../lib/table/table.ts';
import { createVirtualClock } from '../pace/virtual-clock.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';
import { leaseOver } from './lease-over.ts';

type Clock = ReturnType<typeof createVirtualClock>;

const LEASE_MS = 3_000;

/** A table that handles one request after another, each for so long. */
function slowTable(table: Table, clock: Clock, eachMs: number): Table {
  let freeAtMs = 0;
  const inTurn = async <T>(act: () => Promise<T>): Promise<T> => {
    freeAtMs = Math.max(freeAtMs, clock.now()) + eachMs;
    await clock.sleep(freeAtMs - clock.now());
    return act();
  };
  return {
    ...table,
    get: (key) => inTurn(() => table.get(key)),
    getAll: (keys) => inTurn(() => table.getAll(keys)),
    put: (...given) => inTurn(() => table.put(...given)),
  };
}

/** A queue of jobs that come back when their delay is over; `emptied` is called once all are deleted. */
function delayingQueue(jobs: number, clock: Clock, emptied: () => void): Queue {
  const dueAtMs = new Map(Array.from({ length: jobs }, (_, index) => [`job-${index}`, 0]));
  const receives = new Map<string, number>();
  return {
    send: () => Promise.reject(new Error('nothing is sent')),
    async receive({ most }) {
      await clock.sleep(100);
      const due = [...dueAtMs].filter(([, atMs]) => atMs <= clock.now()).slice(0, most);
      return due.map(([id]): QueueMessage => {
        dueAtMs.set(id, Number.POSITIVE_INFINITY);
        receives.set(id, (receives.get(id) ?? 0) + 1);
        const body = JSON.stringify({ ...runFunctionJob, id });
        return { messageId: id, body, sender: 'AIDAEXAMPLE', receives: receives.get(id) ?? 1, receipt: id };
      });
    },
    async delete(receipt) {
      dueAtMs.delete(receipt);
      if (dueAtMs.size === 0) emptied();
    },
    async delay(receipt, delayMs) {
      dueAtMs.set(receipt, clock.now() + delayMs);
    },
    counts: async () => ({ waiting: dueAtMs.size, inFlight: 0, delayed: 0 }),
  };
}

test('a table that cannot renew the leases of all jobs at once is given fewer, and all end', async () => {
  const clock = createVirtualClock();
  const { now, sleep } = clock;
  await using fake = await fakeWorker({
    'run-function': async (_, turn) => {
      await turn.beforeSend();
      turn.onLeave();
      await sleep(500);
      return { status: 'done', response: '1' };
    },
  });
  const ledger = createLedger({ table: slowTable(createMemoryTable(), clock, 120), now });
  // Nothing that takes real time: the clock would run ahead meanwhile.
  const store = { ...fake.worker.store, ...createMemoryStore() };
  const stop = new AbortController();
  let endedAtMs = Number.POSITIVE_INFINITY;
  const queue = delayingQueue(60, clock, () => {
    endedAtMs = now();
    stop.abort();
  });

  const working = work({
    worker: { ...fake.worker, store, ledger, now, sleep },
    lease: leaseOver({ ledger, now, sleep }, LEASE_MS),
    queue,
    concurrency: 20,
    visibilitySeconds: 3_600,
    drain: false,
    polls: { waitSeconds: 0, quiet: 1 },
    signal: stop.signal,
    sleep,
  });
  await clock.run(600_000);
  stop.abort();
  await clock.run();
  await working;

  // Three writes a job take 22 s, if nothing is done twice.
  expect(endedAtMs).toBeLessThan(60_000);
});

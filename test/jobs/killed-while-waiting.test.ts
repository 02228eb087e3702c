import { expect, test } from 'vitest';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import { createVirtualClock } from '../pace/virtual-clock.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import { fakeWorker, invocationLease, runFunctionJob } from './fake-worker.ts';

test('a worker that is killed while its jobs wait for their slots leaves at most one that counts as sent', async () => {
  const clock = createVirtualClock();
  const { now, sleep } = clock;
  const pace = createProcessPace({ rate: 2.5, concurrency: 8, now, sleep });
  const sent = new Set<string>();
  const fake = fakeWorker({
    'run-function': async ({ id }, turn) => {
      const call = async () => {
        turn.onSend();
        sent.add(id);
        await sleep(100);
      };
      await pace.run(call, { prepare: turn.beforeSend });
      return { status: 'done', response: '1' };
    },
  });
  const table = createMemoryTable();
  const put: typeof table.put = async (...given) => sleep(40).then(() => table.put(...given));
  const ledger = createLedger({ table: { ...table, put }, now });
  const worker = { ...fake.worker, store: createMemoryStore(), ledger, now, sleep };
  const lease = invocationLease({ clock: { nowMs: 0 } });
  const sentFor: number[] = [];

  const handled = Array.from({ length: 8 }, (_, index) =>
    fake.handle({ ...runFunctionJob, id: `job-${index}` }, { worker, lease }),
  );
  for (let atMs = 0; sent.size < 8; atMs += 10) {
    await clock.run(atMs);
    const rows = await Array.fromAsync(ledger.list());
    sentFor.push(rows.filter(({ id, state }) => state === 'SENT' && !sent.has(id)).length);
  }
  await clock.run();
  await Promise.all(handled);

  expect(now()).toBeLessThan(3_600);
  expect(Math.max(...sentFor)).toBe(1);
  expect(sentFor.filter((count) => count > 0).length / sentFor.length).toBeLessThan(0.2);
  expect((await Array.fromAsync(ledger.list())).map(({ state }) => state)).toEqual(Array(8).fill('DONE'));
});

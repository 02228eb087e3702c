import { describe, expect, test } from 'vitest';
import { AwsError } from '../../lib/base/aws/fault.ts';
import type { Worker } from '../../lib/jobs/handle-message.ts';
import type { QueueMessage } from '../../lib/jobs/queue/queue.ts';
import { RequeueError } from '../../lib/jobs/send-context.ts';
import { handleDelivery } from '../../lib/jobs/work.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { countingQueue } from './counting-queue.ts';
import { fakeWorker, invocationLease, runFunctionJob } from './fake-worker.ts';

const HOUR = 3_600_000;

type Clock = { nowMs: number };
/** A queue of one message. `next` moves the clock to the time at which the message is visible, and receives it. */
function queueOfOne(clock: Clock, maxReceives?: number) {
  const counting = countingQueue(() => clock.nowMs, [JSON.stringify(runFunctionJob)], maxReceives);
  return {
    ...counting,
    next(): QueueMessage | undefined {
      const [firstMs] = counting.visibleAt().toSorted((one, other) => one - other);
      clock.nowMs = Math.max(clock.nowMs, firstMs ?? 0);
      return counting.receive(1, 0)[0];
    },
  };
}

async function drain(
  { next, queue }: Pick<ReturnType<typeof queueOfOne>, 'next' | 'queue'>,
  worker: Worker,
  clock: Clock,
): Promise<void> {
  for (let message = next(); message !== undefined; message = next()) {
    const handled = await handleDelivery(message, { worker, queue, lease: invocationLease({ clock }) });
    if (handled.kind === 'done') await queue.delete(message.receipt);
    if (handled.kind === 'failed' && handled.delayMs === undefined)
      await queue.delay(message.receipt, 60_000);
  }
}

/** A worker that requeues its message for some hours, with a delay of `waitMs` each time, and its queue. */
async function requeuing(hours: number, waitMs = 60_000, maxReceives?: number) {
  const fake = fakeWorker({
    'run-function': async (_, turn) => {
      if (fake.clock.nowMs < untilMs)
        throw new RequeueError('paused', Math.min(waitMs, untilMs - fake.clock.nowMs));
      await turn.beforeSend();
      runs.push(fake.clock.nowMs);
      return { status: 'done', response: '1' };
    },
  });
  const untilMs = fake.clock.nowMs + hours * HOUR;
  const runs: number[] = [];
  return { ...fake, untilMs, runs, counting: queueOfOne(fake.clock, maxReceives) };
}

describe('a waiting message', () => {
  test('survives a pause of a day, is not received often, and keeps its first sender', async () => {
    const waiting = await requeuing(24);
    const { counting, runs } = waiting;

    await drain(counting, waiting.worker, waiting.clock);

    expect(counting.lost).toEqual([]);
    expect(counting.visibleAt()).toEqual([]);
    expect(counting.seen.mostReceives).toBe(200);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toBeLessThan(waiting.untilMs + 61_000);
    expect(await waiting.stored('results/run-function/dt=2026-11-21/job-1.json')).toMatchObject({
      status: 'done',
      sender: 'AIDASUBMITTER',
    });
  });

  test.each([1, 3, 10])(
    'does not become a dead letter in ten hours on a queue whose limit is %i receives',
    async (maxReceives) => {
      const waiting = await requeuing(10, 60_000, maxReceives);

      await drain(waiting.counting, waiting.worker, waiting.clock);

      expect(waiting.counting.lost).toEqual([]);
      expect(waiting.finished).toHaveLength(1);
      // One receive is left for a worker that dies.
      expect(waiting.counting.seen.mostReceives).toBe(Math.max(1, maxReceives - 1));
    },
  );

  test('is not deleted by the queue in 40 days, though each wait is long', async () => {
    const waiting = await requeuing(40 * 24, Number.POSITIVE_INFINITY);

    await drain(waiting.counting, waiting.worker, waiting.clock);

    expect(waiting.counting.lost).toEqual([]);
    expect(waiting.finished).toHaveLength(1);
    expect(waiting.counting.seen.copies).toBeLessThan(15);
  });

  test.each([
    [45_000, 45_000],
    [7_200_000, 900_000],
  ])(
    'that was received often is replaced after %i ms by a copy delayed by %i ms',
    async (waitMs, delayMs) => {
      const waiting = await requeuing(24, waitMs);
      const { clock, counting, worker } = waiting;
      const { nowMs } = clock;
      const message = { ...counting.next(), receives: 200 } as QueueMessage;

      await handleDelivery(message, { worker, queue: counting.queue, lease: invocationLease({ clock }) });
      counting.next();

      expect(counting.seen.copies).toBe(1);
      expect(clock.nowMs).toBe(nowMs + delayMs);
    },
  );

  test('that was copied but not deleted is still one job', async () => {
    const waiting = await requeuing(10);
    const { counting, runs } = waiting;
    let deletions = 0;
    const queue = {
      ...counting.queue,
      delete: async (receipt: string) => {
        deletions += 1;
        if (deletions === 1)
          throw new AwsError('queue', 'delete', Object.assign(new Error('x'), { code: 'ECONNRESET' }));
        return counting.queue.delete(receipt);
      },
    };

    await drain({ ...counting, queue }, waiting.worker, waiting.clock);

    expect(counting.visibleAt()).toEqual([]);
    expect(runs).toHaveLength(1);
  });

  test('is not lost if the table is unavailable for two days, and becomes visible within half a minute', async () => {
    const fake = fakeWorker({ 'run-function': async () => ({ status: 'done', response: '1' }) });
    const untilMs = fake.clock.nowMs + 48 * HOUR;
    const unavailable = new TableError('claim', { kind: 'unreachable', code: 'ECONNREFUSED' });
    const unlessUnavailable = async <T>(act: () => Promise<T>): Promise<T> => {
      if (fake.clock.nowMs < untilMs) throw unavailable;
      return act();
    };
    const ledger = {
      ...fake.ledger,
      claim: (...asked: Parameters<typeof fake.ledger.claim>) =>
        unlessUnavailable(() => fake.ledger.claim(...asked)),
      announce: (...asked: Parameters<typeof fake.ledger.announce>) =>
        unlessUnavailable(() => fake.ledger.announce(...asked)),
    };
    const counting = queueOfOne(fake.clock);

    await drain(counting, { ...fake.worker, ledger }, fake.clock);

    expect(counting.lost).toEqual([]);
    expect(fake.finished).toHaveLength(1);
    expect(fake.clock.nowMs - untilMs).toBeLessThanOrEqual(30_000);
    expect(counting.seen.mostReceives).toBe(200);
  });
});

test('a message on which platform-sync itself fails becomes a dead letter', async () => {
  const fake = fakeWorker({});
  const ledger = { ...fake.ledger, claim: () => Promise.reject(new TypeError('a fault')) };
  const counting = queueOfOne(fake.clock);

  await drain(counting, { ...fake.worker, ledger }, fake.clock);

  expect(counting.lost).toHaveLength(1);
  expect(counting.seen.copies).toBe(0);
});

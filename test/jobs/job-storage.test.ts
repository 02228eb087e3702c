import { afterEach, expect, test, vi } from 'vitest';
import { sleep } from '../../lib/base/async.ts';
import type { Lease } from '../../lib/jobs/delivery.ts';
import type { Worker } from '../../lib/jobs/handle-message.ts';
import { openJobStorage } from '../../lib/jobs/job-storage.ts';
import { openWorker } from '../../lib/jobs/open-worker.ts';
import { openSession } from '../../lib/session.ts';
import { startTestAws, type TestAws } from '../base/aws/start-test-aws.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { fakeWorker, invocationLease, runFunctionJob } from './fake-worker.ts';

afterEach(() => vi.restoreAllMocks());

/** Makes `Date.now` wrong by `offMs`; returns a function that gives the rightNow time. */
function setClockOff(offMs: number): () => number {
  const rightNow = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => rightNow() + offMs);
  return rightNow;
}

const sessionOf = (aws: TestAws) =>
  openSession({
    environment: {
      ...aws.settings,
      PLATFORM_BASE_URL: 'http://127.0.0.1:9',
      PLATFORM_TOKEN: 'token',
      SYNC_STORE: `s3://${aws.bucket('jobs')}`,
      SYNC_TABLE: 'ledger',
    },
    err: () => undefined,
  });

/** A store in memory, since one in a directory compares file times with the clock. */
const memoryStoreOf = ({ store }: Worker) => ({ ...store, ...createMemoryStore() });

const leaseWithoutEnd = (fake: Parameters<typeof invocationLease>[0]): Lease => ({
  ...invocationLease(fake),
  deadlineMs: undefined,
  leaseMs: 30_000,
  writeUntilMs: () => Number.POSITIVE_INFINITY,
});

test.each([300_000, -300_000])(
  'a worker whose clock is off by %i ms claims leases in the table’s time',
  async (offMs) => {
    await using aws = await startTestAws({ buckets: ['jobs'], tables: ['ledger'] });
    const rightNow = setClockOff(offMs);
    const session = sessionOf(aws);
    const storage = await openJobStorage(session);
    const worker = await openWorker(session, storage);
    const request = { id: 'job-1', type: 'score', contentHash: 'hash', sender: 'me' };

    const answer = await storage.ledger.claim(request, { leaseMs: 30_000, isNew: true });

    const leftMs = answer.kind === 'claimed' ? answer.claim.leaseUntilMs - rightNow() : Number.NaN;
    expect(Math.abs(leftMs - 30_000)).toBeLessThan(2_000);
    expect(Math.abs(worker.now() - rightNow())).toBeLessThan(2_000);
  },
);

test.each([300_000, -300_000])(
  'a worker whose clock is off by %i ms, and that could not reach the table when it started, claims its first lease in the table’s time',
  async (offMs) => {
    await using aws = await startTestAws({ buckets: ['jobs'], tables: ['ledger'] });
    const rightNow = setClockOff(offMs);
    const { ledger } = await openJobStorage(sessionOf(aws));
    const leftMs: number[] = [];
    const fake = fakeWorker({
      'run-function': async ({ id }, turn) => {
        await turn.beforeSend();
        leftMs.push(((await ledger.read(id))?.leaseUntilMs ?? 0) - rightNow());
        return { status: 'done', response: '1' };
      },
    });
    const worker = { ...fake.worker, store: memoryStoreOf(fake.worker), ledger, now: ledger.now, sleep };

    await fake.handle(runFunctionJob, { worker, lease: leaseWithoutEnd(fake) });

    expect(leftMs).toHaveLength(1);
    expect(Math.abs((leftMs[0] ?? 0) - 30_000)).toBeLessThan(2_000);
  },
);

test('a worker whose clock is ahead, and that could not reach the table when it started, runs no job early', async () => {
  await using aws = await startTestAws({ buckets: ['jobs'], tables: ['ledger'] });
  const rightNow = setClockOff(300_000);
  const { ledger } = await openJobStorage(sessionOf(aws));
  const fake = fakeWorker({});
  const worker = { ...fake.worker, store: memoryStoreOf(fake.worker), ledger, now: ledger.now, sleep };
  const notBefore = new Date(rightNow() + 60_000).toISOString();

  const handled = await fake.handle(
    { ...runFunctionJob, notBefore },
    { worker, lease: leaseWithoutEnd(fake) },
  );

  expect(handled.kind).toBe('later');
  expect(await ledger.read('job-1')).toBeUndefined();
});

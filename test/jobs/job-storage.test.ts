import { afterEach, expect, test, vi } from 'vitest';
import { openJobStorage } from '../../lib/jobs/job-storage.ts';
import { openWorker } from '../../lib/jobs/open-worker.ts';
import { openSession } from '../../lib/session.ts';
import { startTestAws } from '../aws/start-test-aws.ts';

afterEach(() => vi.restoreAllMocks());

test.each([300_000, -300_000])(
  'the leases of a worker whose clock is off by %i ms are in the table’s time',
  async (offMs) => {
    await using aws = await startTestAws({ buckets: ['jobs'], tables: ['ledger'] });
    const right = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => right() + offMs);
    const environment = {
      ...aws.settings,
      PLATFORM_BASE_URL: 'http://127.0.0.1:9',
      PLATFORM_TOKEN: 'token',
      SYNC_STORE: `s3://${aws.bucket('jobs')}`,
      SYNC_TABLE: 'ledger',
    };
    const session = openSession({ environment, err: () => undefined });
    const storage = await openJobStorage(session);
    const worker = await openWorker(session, storage);
    const request = { id: 'job-1', type: 'score', contentHash: 'hash', sender: 'me' };

    const answer = await storage.ledger.claim(request, { leaseMs: 30_000, isNew: true });

    const leftMs = answer.kind === 'claimed' ? answer.claim.leaseUntilMs - right() : Number.NaN;
    expect(Math.abs(leftMs - 30_000)).toBeLessThan(2_000);
    expect(Math.abs(worker.now() - right())).toBeLessThan(2_000);
  },
);

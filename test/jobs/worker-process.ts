import { randomUUID } from 'node:crypto';
import { sleep } from '../../lib/base/async.ts';
import { openJobStorage } from '../../lib/jobs/job-storage.ts';
import { openWorker, renewedLease } from '../../lib/jobs/open-worker.ts';
import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import { work } from '../../lib/jobs/work.ts';
import { openSession } from '../../lib/session.ts';
import { needed } from '../../lib/settings.ts';

/* `platform-sync work --drain`, with leases so short that a killed worker's jobs are taken over in seconds. */

const session = openSession({ environment: process.env, err: () => undefined });
const queueUrl = needed(session.settings, 'SYNC_QUEUE_URL');
const opened = await openJobStorage(session);
const cache = createScoreCache({
  ...opened,
  ...{ owner: randomUUID(), newToken: randomUUID, now: opened.ledger.now },
  attemptMs: session.settings.PLATFORM_TIMEOUT_MS,
  spareMs: 1_000,
});
const storage = { ...opened, cache };
await work({
  worker: await openWorker(session, storage),
  lease: renewedLease(storage.ledger, { leaseMs: 2_000 }),
  queue: await openQueue(queueUrl, process.env),
  concurrency: 20,
  visibilitySeconds: 3,
  drain: true,
  polls: { waitSeconds: 1, emptyPolls: 1 },
  signal: new AbortController().signal,
  sleep,
});
process.exit(0);

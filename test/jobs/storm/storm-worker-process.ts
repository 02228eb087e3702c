/*
 * `node storm-worker-process.ts`: `platform-sync work` with leases of `STORM_LEASE_MS`, texts that are held for
 * `STORM_SPARE_MS` longer than an attempt, a clock that is wrong by `STORM_CLOCK_MS`, and delays on the queue of at
 * most `STORM_DELAY_MS`, since waiting for longer would show nothing new.
 */

const offMs = Number(process.env['STORM_CLOCK_MS'] ?? 0);

// This comes before the imports, since modules may remember the clock.
if (offMs !== 0) {
  const Right = Date;
  globalThis.Date = class extends Right {
    constructor(...given: [] | [number | string]) {
      if (given.length === 0) super(Right.now() + offMs);
      else super(...given);
    }
    static override now() {
      return Right.now() + offMs;
    }
  } as DateConstructor;
}

const { randomUUID } = await import('node:crypto');
const { openJobStorage } = await import('../../../lib/jobs/job-storage.ts');
const { openWorker, renewedLease } = await import('../../../lib/jobs/open-worker.ts');
const { createScoreCache } = await import('../../../lib/jobs/texts/cache/score-cache.ts');
const { openQueue } = await import('../../../lib/jobs/queue/open-queue.ts');
const { work } = await import('../../../lib/jobs/work.ts');
const { openSession } = await import('../../../lib/session.ts');
const { needed } = await import('../../../lib/settings.ts');
const { sqlitePath } = await import('../../../lib/locations.ts');
const { sleep } = await import('../../../lib/base/async.ts');

const VISIBILITY_SECONDS = 3;

const leaseMs = Number(process.env['STORM_LEASE_MS']);
const maxDelayMs = Number(process.env['STORM_DELAY_MS']);
const session = openSession({
  environment: process.env,
  err: (line) => process.stderr.write(`${new Date().toISOString()} ${line}\n`),
});
const queueUrl = needed(session.settings, 'SYNC_QUEUE_URL');
const opened = await openJobStorage(session);
const cache = createScoreCache({
  ...opened,
  owner: randomUUID(),
  newToken: randomUUID,
  now: opened.ledger.now,
  attemptMs: session.settings.PLATFORM_TIMEOUT_MS,
  spareMs: Number(process.env['STORM_SPARE_MS']),
});
const storage = { ...opened, cache };
const queue = await openQueue(queueUrl, process.env);
await sayWhoWrites();
await work({
  worker: await openWorker(session, storage),
  lease: renewedLease(storage.ledger, { leaseMs }),
  queue: { ...queue, delay: (receipt, delayMs) => queue.delay(receipt, Math.min(delayMs, maxDelayMs)) },
  concurrency: 10,
  visibilitySeconds: VISIBILITY_SECONDS,
  drain: false,
  polls: { waitSeconds: 1, emptyPolls: 1 },
  signal: new AbortController().signal,
  sleep,
});

/** In SQLite, stores the name by which rows refer to this worker as their writer, under the storm's name for it. */
async function sayWhoWrites(): Promise<void> {
  const path = sqlitePath(queueUrl);
  if (path === undefined) return;
  const { sqliteFile } = await import('../../../lib/table/sqlite-file.ts');
  await sqliteFile(path).write('name', (db, self) => {
    const named = 'INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)';
    db.prepare(named).run(String(process.env['STORM_WORKER']), self);
  });
}

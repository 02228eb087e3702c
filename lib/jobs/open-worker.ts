import { randomUUID } from 'node:crypto';
import { sleep } from '../pace/sleep.ts';
import { runFunction } from '../platform/run-function.ts';
import type { Session } from '../session.ts';
import type { Store } from '../store/store.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import type { Table } from '../table/table.ts';
import { readAllow } from './allow.ts';
import type { Lease, Worker } from './handle-message.ts';
import { createLedger } from './ledger/create-ledger.ts';
import { renewLease } from './ledger/lease-renewal.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Job } from './message.ts';
import { dataFilesRunner } from './runners/data-files.ts';
import { functionRunner } from './runners/run-function.ts';
import { scoreRunner } from './runners/score.ts';
import { snapshotRunner } from './runners/snapshot.ts';
import { formulaRunner } from './runners/update-formula.ts';
import type { BatchPlace } from './texts/batch.ts';
import { failChunk } from './texts/end-chunk.ts';
import { createScoreCache, type ScoreCache } from './texts/score-cache.ts';

/** Whatever jobs share: the store, the table, and what stands on them. */
export type JobPlace = {
  readonly store: Store;
  readonly table: Table;
  readonly ledger: Ledger;
  readonly cache: ScoreCache;
  readonly batches: BatchPlace;
  /** The platform's host. */
  readonly host: string;
};

/** Opens what jobs share, by the settings: the table in DynamoDB, or memory where none is set. */
export async function openJobPlace(session: Session): Promise<JobPlace> {
  const { SYNC_TABLE: tableName, PLATFORM_BASE_URL, PLATFORM_TIMEOUT_MS } = session.settings;
  const store = await session.store();
  const table = tableName === undefined ? createMemoryTable() : await openTable(tableName, session);
  const { host } = new URL(PLATFORM_BASE_URL);
  // A claim on a text must outlast the attempt that it is for.
  const leaseMs = 1.5 * PLATFORM_TIMEOUT_MS;
  const ours = { owner: randomUUID(), now: Date.now, newToken: randomUUID };
  return {
    store,
    table,
    ledger: createLedger({ table }),
    cache: createScoreCache({ table, host, leaseMs, ...ours }),
    batches: { store, table, newToken: randomUUID },
    host,
  };
}

/** The SDK is loaded only where there is a table. */
async function openTable(tableName: string, { environment }: Session): Promise<Table> {
  const { createDynamoTable } = await import('../table/dynamo-table.ts');
  return createDynamoTable({ tableName, environment });
}

/** The worker of a process. Throws `AllowError` if SYNC_ALLOW is wrong. */
export function openWorker(session: Session, place: JobPlace): Worker {
  const { settings, logger, callCounts } = session;
  // A long wait hands a job back instead of being sat out. A snapshot would begin anew, and has patience.
  const platform = session.platformWith({ budgetMs: settings.PLATFORM_MAX_WAIT_MS });
  const { store, ledger, cache, batches, host } = place;
  const clock = { now: Date.now, random: Math.random, sleep };
  return {
    ledger,
    store,
    allow: readAllow(settings.SYNC_ALLOW),
    logger,
    ...clock,
    runners: {
      'run-function': functionRunner(platform.call),
      score: scoreRunner({ ...clock, platform, cache, batches }),
      'update-formula': formulaRunner(platform),
      'data-files': dataFilesRunner(platform.call),
      snapshot: snapshotRunner({
        ...clock,
        call: session.platform.call,
        store,
        host,
        compression: settings.SYNC_COMPRESSION,
        callCounts,
      }),
    },
    mustLastMs: (job: Job) =>
      job.type === 'run-function' ? (runFunction.timeoutMs ?? 0) : settings.PLATFORM_TIMEOUT_MS,
    // EventBridge takes these where it is deployed.
    tellFinished: async (event) => logger.info({ event }, 'JobFinished'),
    async onEnded(job, { outcome }) {
      if (job.type !== 'score' || job.batch === undefined || job.chunk === undefined) return;
      const { batch, chunk } = job;
      if (outcome.status !== 'done')
        await failChunk({ batch, chunk }, outcome.error?.message ?? outcome.status, batches);
    },
  };
}

/** How long a worker without a deadline holds a job at a time; a dead one's jobs wait as long. */
const HELD_LEASE_MS = 30_000;

/** The lease of a process that lives on: renewed while a job runs. */
export const renewedLease = (ledger: Ledger, leaseMs = HELD_LEASE_MS): Lease => ({
  deadlineMs: undefined,
  leaseMs,
  holdLease: (claim) => renewLease({ ledger, claim, leaseMs }),
});

/** What is left after the deadline for a process that is about to be stopped; nothing is sent by then. */
const AFTER_DEADLINE_MS = 2_000;

/** The lease of an invocation that ends at a deadline (epoch milliseconds): nothing renews it, and it outlives it. */
export const leaseUntil = (deadlineMs: number, now: () => number): Lease => ({
  deadlineMs,
  leaseMs: Math.max(1, deadlineMs - now()) + AFTER_DEADLINE_MS,
  holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
});

import { randomUUID } from 'node:crypto';
import { once } from '../once.ts';
import type { Platform } from '../platform/client.ts';
import { runFunction } from '../platform/operations/run-function.ts';
import type { Sentiment } from '../platform/records.ts';
import type { Session } from '../session.ts';
import type { Store } from '../store/store.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import type { Table } from '../table/table.ts';
import { sleep } from '../time/sleep.ts';
import { readAllow } from './allow.ts';
import type { JobFinished, Lease, Worker } from './handle-message.ts';
import { jobTimes } from './job-times.ts';
import { createLedger } from './ledger/create-ledger.ts';
import { renewLease } from './ledger/lease-renewal.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Job } from './message/message.ts';
import type { BatchPlace } from './texts/batch/batch.ts';
import { failChunk } from './texts/batch/end-chunk.ts';
import { createScoreCache, type ScoreCache } from './texts/cache/score-cache.ts';
import { dataFilesRunner } from './types/data-files/runner.ts';
import { functionRunner } from './types/run-function/runner.ts';
import { scoreRunner } from './types/score/runner.ts';
import { openSnapshots } from './types/snapshot/open-snapshots.ts';
import { formulaRunner } from './types/update-formula/runner.ts';

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

/** For whoever measures a worker. */
export type WorkerHooks = {
  readonly onFinished?: (event: JobFinished) => void;
  readonly onRefused?: () => void;
  /** Told of each text that the platform scored: what it used stands in the answer. */
  readonly onSentiment?: (answer: Sentiment) => void;
};

/** The worker of a process. Throws `AllowError` if SYNC_ALLOW is wrong, `ExecutionInputError` if SYNC_FOLLOWERS is. */
export function openWorker(session: Session, place: JobPlace, hooks: WorkerHooks = {}): Worker {
  const { settings, logger } = session;
  // A long wait hands a job back instead of being sat out. A snapshot would begin anew, and has patience.
  const platform = session.platformWith({ budgetMs: settings.PLATFORM_MAX_WAIT_MS });
  const { store, ledger, cache, batches } = place;
  const clock = { now: Date.now, random: Math.random, sleep };
  const tellFinished = finishedTeller(session);
  return {
    ledger,
    store,
    allow: readAllow(settings.SYNC_ALLOW),
    logger,
    ...clock,
    runners: {
      'run-function': functionRunner(platform.call),
      score: scoreRunner({ ...clock, platform: heard(platform, hooks), cache, batches }),
      'update-formula': formulaRunner(platform),
      'data-files': dataFilesRunner(platform.call),
      snapshot: openSnapshots(session, place),
    },
    mustLastMs: (job: Job) =>
      job.type === 'run-function' ? (runFunction.timeoutMs ?? 0) : settings.PLATFORM_TIMEOUT_MS,
    async tellFinished(event) {
      await tellFinished(event);
      hooks.onFinished?.(event);
    },
    ...(hooks.onRefused === undefined ? {} : { onRefused: hooks.onRefused }),
    async onEnded(job, { outcome }) {
      if (job.type !== 'score' || job.batch === undefined || job.chunk === undefined) return;
      const { batch, chunk } = job;
      if (outcome.status !== 'done')
        await failChunk({ batch, chunk }, outcome.error?.message ?? outcome.status, batches);
    },
  };
}

/** Tells of ended jobs on the event bus, or in the log where none is set. */
function finishedTeller({ settings, environment, logger }: Session): Worker['tellFinished'] {
  const { SYNC_EVENT_BUS: bus, SYNC_STORE: store } = settings;
  if (bus === undefined) return async (event) => logger.info({ event }, 'JobFinished');
  const teller = once(async () =>
    (await import('./event-bridge.ts')).tellEventBridge({ bus, store, environment }),
  );
  return async (event) => (await teller())(event);
}

/** The client, with somebody who hears what the scoring of each text answered. */
const heard = (platform: Platform, { onSentiment }: WorkerHooks): Platform =>
  onSentiment === undefined
    ? platform
    : {
        ...platform,
        sentiment: {
          ...platform.sentiment,
          async analyze(request, options) {
            const answer = await platform.sentiment.analyze(request, options);
            onSentiment(answer);
            return answer;
          },
        },
      };

/** How long a worker without a deadline holds a job at a time; a dead one's jobs wait as long. */
const HELD_LEASE_MS = 30_000;

/** The lease of a process that lives on: renewed while a job runs. */
export const renewedLease = (ledger: Ledger, leaseMs = HELD_LEASE_MS): Lease => ({
  deadlineMs: undefined,
  leaseMs,
  holdLease: (claim) => renewLease({ ledger, claim, leaseMs }),
});

/** Beyond the end of the invocation: clocks may differ a little. */
const AFTER_INVOCATION_MS = 2_000;

/**
 * The lease of an invocation whose jobs must be done at a deadline (epoch milliseconds), which leaves it the time to
 * answer. Nothing renews it, and it outlives the invocation.
 */
export const leaseUntil = (deadlineMs: number, now: () => number): Lease => ({
  deadlineMs,
  leaseMs: Math.max(0, deadlineMs - now()) + jobTimes.toAnswerMs + AFTER_INVOCATION_MS,
  holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
});

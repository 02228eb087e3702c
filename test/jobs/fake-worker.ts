import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import type { Lease } from '../../lib/jobs/delivery.ts';
import { handleMessage, type Worker } from '../../lib/jobs/handle-message.ts';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import type { QueueMessage } from '../../lib/jobs/queue/queue.ts';
import type { JobFinished } from '../../lib/jobs/result.ts';
import { type JobType, jobTypes, type Runners } from '../../lib/jobs/types/job-types.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createMemoryTable } from '../table/memory-table.ts';

/**
 * A worker in memory with the given runners. Its clock moves only when the test or a sleep moves it; with a store on
 * disk, a busy machine would be slower than that clock.
 */
export function fakeWorker(runners: Partial<Runners>) {
  const clock = { nowMs: Date.parse('2026-11-21T09:00:00Z') };
  const now = () => clock.nowMs;
  const store = createMemoryStore();
  const table = createMemoryTable();
  const ledger = createLedger({ table, now });
  const finished: JobFinished[] = [];
  const worker: Worker = {
    ledger,
    store,
    batches: { store, table, newToken: randomUUID, now },
    runners: { ...noRunners, ...runners },
    allow: {},
    reportFinished: async (event) => void finished.push(event),
    logger: pino({ level: 'silent' }),
    now,
    async sleep(ms, signal) {
      // Real time in which everything else can make progress first.
      await delay(5);
      signal?.throwIfAborted();
      clock.nowMs += ms;
    },
    random: () => 0.5,
    maxSendMs: () => 60_000,
  };
  return {
    worker,
    ledger,
    store,
    batches: worker.batches,
    clock,
    finished,
    /** The JSON of a stored object; undefined if the object does not exist. */
    async stored(key: string): Promise<unknown> {
      const object = await store.get(key);
      return object && JSON.parse(object.body.toString());
    },
    /** Delivers a message with this body. `other`: what differs from an ordinary delivery. */
    handle(body: unknown, other: Other = {}) {
      const message = { ...messageOf(body, other.message?.messageId), ...other.message };
      return handleMessage(
        message,
        { ...worker, ...other.worker },
        { ...invocationLease({ clock }), ...other.lease },
      );
    },
  };
}

type Other = {
  readonly message?: Partial<QueueMessage>;
  readonly worker?: Partial<Worker>;
  readonly lease?: Partial<Lease>;
};

const never = () => Promise.reject(new Error('no runner'));
const noRunners = Object.fromEntries(jobTypes.map((type) => [type, never])) as Record<JobType, typeof never>;

/** A lease with a deadline in two minutes, as in a deployed function. */
export function invocationLease({ clock }: { readonly clock: { readonly nowMs: number } }): Lease {
  const deadlineMs = clock.nowMs + 120_000;
  return {
    deadlineMs,
    leaseMs: 125_000,
    writeUntilMs: () => deadlineMs,
    holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
  };
}

export const messageOf = (body: unknown, messageId = 'm-1'): QueueMessage => ({
  messageId,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  sender: 'AIDAEXAMPLE',
  receives: 1,
  receipt: `receipt of ${messageId}`,
});

export const runFunctionJob = {
  version: 1,
  type: 'run-function',
  id: 'job-1',
  packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  packageVersion: '1.0.0',
  functionName: 'add',
} as const;

import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import type { Allow } from '../../../../lib/jobs/allow.ts';
import type { Worker } from '../../../../lib/jobs/handle-message.ts';
import { createLedger } from '../../../../lib/jobs/ledger/create-ledger.ts';
import { jobTypes, type Runners } from '../../../../lib/jobs/types/job-types.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';

const logger = pino({ level: 'silent' });

/** A worker whose jobs all succeed; `ran` are their ids. */
export function workerInMemory(allow: Allow) {
  const clock = { nowMs: Date.parse('2026-11-21T09:00:00Z') };
  const now = () => clock.nowMs;
  const [store, table] = [createMemoryStore(), createMemoryTable()];
  const ran: string[] = [];
  const run = async (job: { readonly id: string }) => {
    ran.push(job.id);
    return { status: 'done', response: '{}' } as const;
  };
  const worker: Worker = {
    ledger: createLedger({ table, now }),
    store,
    batches: { store, table, newToken: randomUUID, now },
    runners: Object.fromEntries(jobTypes.map((type) => [type, run])) as unknown as Runners,
    allow,
    reportFinished: async () => undefined,
    logger,
    now,
    // What waits beside the work ends with it, by the signal.
    async sleep(_ms, signal) {
      await turn();
      signal?.throwIfAborted();
    },
    random: () => 0.5,
    mustLastMs: () => 60_000,
  };
  return { worker, store, clock, ran };
}

import pino from 'pino';
import type { Worker } from '../../lib/jobs/handle-message.ts';
import { createJobSlots } from '../../lib/jobs/job-slots.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import { dataFiles } from '../../lib/jobs/types/data-files/definition.ts';
import { definitionOf } from '../../lib/jobs/types/job-types.ts';
import { runFunction } from '../../lib/jobs/types/run-function/definition.ts';
import { scoreRunner } from '../../lib/jobs/types/score/runner.ts';
import { updateFormula } from '../../lib/jobs/types/update-formula/definition.ts';
import type { Platform } from '../../lib/platform/client.ts';
import type { Store } from '../../lib/store/store.ts';
import type { Table } from '../../lib/table/table.ts';
import { runnerOf } from './runner-of.ts';

/** The parts of a worker in a simulated world. */
export type WorkerParts = Pick<Worker, 'ledger' | 'reportFinished' | 'now' | 'sleep' | 'random'> & {
  readonly owner: string;
  readonly table: Table;
  readonly store: Store;
  readonly platform: Platform;
  readonly newToken: () => string;
  /** Requests a second. Default: 20. */
  readonly rate?: number;
};

/** Time limit for one attempt of a call without a limit of its own, in milliseconds. */
const ATTEMPT_MS = 60_000;

const silent = pino({ level: 'silent' });

/** A worker with the real runners of all types but snapshots, over a simulated world. */
export function workerOver(given: WorkerParts): Worker {
  const { owner, table, platform, newToken, rate = 20, ...parts } = given;
  const { store, now, sleep, random } = parts;
  const { setTime } = parts.ledger;
  const cache = createScoreCache({
    table,
    host: 'platform',
    attemptMs: ATTEMPT_MS,
    owner,
    now,
    setTime,
    newToken,
  });
  const batches = { store, table, newToken, now };
  return {
    ...parts,
    batches,
    runners: {
      'run-function': runnerOf(runFunction, platform),
      'update-formula': runnerOf(updateFormula, platform),
      'data-files': runnerOf(dataFiles, platform),
      score: scoreRunner({ platform, cache, batches, rate, now, sleep, random }),
      snapshot: () => Promise.reject(new Error('no snapshots here')),
    },
    allow: {},
    logger: silent,
    slots: createJobSlots({ now, sleep }),
    maxSendMs: (job) => definitionOf(job).timeoutMs ?? ATTEMPT_MS,
  };
}

import { lowerCase } from '../model/rules/index.ts';
import { type Environment, needed, readSyncSettings } from '../settings.ts';
import type { JobRow } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createLedgerCheck } from './ledger-check.ts';
import { openQueue } from './queue/open-queue.ts';
import type { Polls } from './queue/queue.ts';
import { executedJobs, findFailedMessage, moveDeadLetters, redriveBatch, redriveFailed } from './redrive.ts';
import type { BatchStorage } from './texts/batch/batch.ts';

/**
 * The outcome of a redrive. `held`: how many dead letters another process has received. Both `held` and `movedBack`
 * are null if this redrive moves no dead letters.
 */
type RedriveReport = Awaited<ReturnType<typeof redriveFailed>> & {
  /** How many chunks the batch has; 0 if it does not exist. */
  readonly chunks?: number;
  readonly unknown: readonly string[];
  readonly movedBack: number | null;
  readonly held: number | null;
};

/**
 * Opens the functions that reopen jobs on the configured queue. Throws `SettingsError` if no queue is set, and a
 * TableError if the ledger belongs to another store.
 */
export async function openRedrive(options: {
  readonly environment: Environment;
  readonly ledger: Ledger;
  readonly batches: BatchStorage;
  readonly signal: AbortSignal;
  /** Whether to also reopen all jobs that the platform executed. */
  readonly executed: boolean;
  readonly polls?: Polls | undefined;
}) {
  const { environment, polls, ...others } = options;
  const { ledger, batches, signal, executed } = others;
  const settings = readSyncSettings(environment);
  const queue = await openQueue(needed(settings, 'SYNC_QUEUE_URL'), environment);
  await createLedgerCheck(needed(settings, 'SYNC_TABLE'), environment)();
  const parts = { ...others, store: batches.store, queue };
  const { SYNC_DEAD_LETTER_URL: deadUrl } = settings;
  return {
    /** Whether a job is known: by its row in the ledger or, if the row has expired, by its stored message. */
    isKnown: async (id: string): Promise<boolean> =>
      (await ledger.read(id)) !== undefined || (await findFailedMessage(batches.store, id)) !== undefined,
    /** The jobs that would run again even though the platform has executed them. */
    executedAgain: async (ids: readonly string[]): Promise<readonly JobRow[]> =>
      ids.length > 0 || executed ? executedJobs(ids, parts) : [],
    batch: async (batch: string): Promise<RedriveReport> => ({
      ...(await redriveBatch(batch, parts)),
      unknown: [],
      movedBack: null,
      held: null,
    }),
    /** Reopens the jobs with these ids. Without ids: all failed jobs, and the dead letters if their queue is set. */
    async jobs(ids: readonly string[]): Promise<RedriveReport> {
      const redriven = await redriveFailed(ids, parts);
      const isAll = ids.length === 0;
      const from = isAll && deadUrl !== undefined ? await openQueue(deadUrl, environment, 'dead') : undefined;
      const dead = from && (await moveDeadLetters({ from, to: queue, polls, signal }));
      const known = isAll
        ? await Array.fromAsync(ledger.list(), ({ id, state }) => ({ id, status: lowerCase(state) }))
        : redriven.left;
      return {
        ...redriven,
        notSent: [...redriven.notSent, ...(dead?.notMoved ?? [])],
        unknown: known.flatMap(({ id, status }) => (status === 'unknown' ? [id] : [])).sort(),
        movedBack: dead?.moved ?? null,
        held: dead?.held ?? null,
      };
    },
  };
}

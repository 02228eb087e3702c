import { readAhead } from '../base/index.ts';
import type { Store } from '../store/index.ts';
import { type Ledger, mayPrune } from './ledger/ledger.ts';
import { findResult, resultKey } from './result.ts';

/** A job, and when it ended, in epoch milliseconds. */
type OldJob = { readonly id: string; readonly finishedAt: number };

type PruneParts = { readonly ledger: Ledger; readonly store: Store; readonly signal: AbortSignal };

/**
 * Finds the jobs that ended before a moment, oldest first. `before` computes the moment from the time of the newest end.
 * `prune` reduces their rows to the outcome, so that the jobs do not run again; their results have everything else. It
 * returns the ids of the jobs whose rows stay: their results are not in the store, or they were reopened meanwhile.
 */
export async function findOldJobs(before: (newestMs: number) => number, parts: PruneParts) {
  const ended: OldJob[] = [];
  let newestMs = 0;
  for await (const row of parts.ledger.list()) {
    parts.signal.throwIfAborted();
    newestMs = Math.max(newestMs, row.finishedAt ?? 0);
    if (mayPrune(row)) ended.push({ id: row.id, finishedAt: row.finishedAt });
  }
  const beforeMs = before(newestMs);
  const jobs = ended
    .filter(({ finishedAt }) => finishedAt < beforeMs)
    .sort((a, b) => a.finishedAt - b.finishedAt);
  return { jobs, prune: () => prune(jobs, parts) };
}

const CONCURRENT_READS = 16;

async function prune(
  jobs: readonly OldJob[],
  { ledger, store, signal }: PruneParts,
): Promise<readonly string[]> {
  const read = async ({ id }: OldJob) => {
    const row = await ledger.read(id);
    if (row === undefined || !mayPrune(row)) return id;
    const { finishedAt, outcome } = row;
    const { status, finishedAt: storedAt } = (await findResult(store, row))?.value ?? {};
    if (status !== outcome.status || Date.parse(String(storedAt)) !== finishedAt) return id;
    if (!(await ledger.prune(id, { finishedAt, result: resultKey(row) }))) return id;
    // No row refers to the staged response any more.
    if (outcome.staged !== undefined) await store.delete(outcome.staged);
    return undefined;
  };
  const left = await Array.fromAsync(readAhead({ items: jobs, read, concurrency: CONCURRENT_READS, signal }));
  return left.filter((id) => id !== undefined);
}

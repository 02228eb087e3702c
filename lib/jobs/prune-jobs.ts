import { readAhead } from '../base/index.ts';
import type { Store } from '../store/index.ts';
import { type Ledger, mayPrune } from './ledger/ledger.ts';
import { findResult, resultKey } from './result.ts';

/** A job, and when it ended, in epoch milliseconds. */
type OldJob = { readonly id: string; readonly finishedAt: number };

type PruneParts = { readonly ledger: Ledger; readonly store: Store; readonly signal: AbortSignal };

/**
 * Finds the jobs that ended before a cutoff, oldest first. `before` returns the cutoff, given the time at which the
 * newest job ended, both in epoch milliseconds. `prune` removes everything but the outcome from their rows. The outcome
 * stays, so that the jobs never run again; the rest is in their results. It returns the ids of the jobs that were not
 * pruned: their result is missing, or they were reopened in the meantime.
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

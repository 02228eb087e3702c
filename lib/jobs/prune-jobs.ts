import { readAhead } from '../base/index.ts';
import type { Store } from '../store/index.ts';
import { type Ledger, mayPrune } from './ledger/ledger.ts';
import { resultKey } from './result.ts';
import { findResult } from './results/stored-results.ts';

/** When a job ended, in epoch milliseconds. */
type OldJob = { readonly id: string; readonly finishedAt: number };

type PruneParts = { readonly ledger: Ledger; readonly store: Store; readonly signal: AbortSignal };

/** The jobs that ended before a moment, which may be counted back from when the newest one did, the oldest first. */
export async function oldJobs(
  before: (newestMs: number) => number,
  { ledger, signal }: PruneParts,
): Promise<readonly OldJob[]> {
  const ended: OldJob[] = [];
  let newestMs = 0;
  for await (const row of ledger.list()) {
    signal.throwIfAborted();
    newestMs = Math.max(newestMs, row.finishedAt ?? 0);
    if (mayPrune(row)) ended.push({ id: row.id, finishedAt: row.finishedAt });
  }
  const beforeMs = before(newestMs);
  const old = ended.filter(({ finishedAt }) => finishedAt < beforeMs);
  return old.sort((a, b) => a.finishedAt - b.finishedAt);
}

const AT_ONCE = 16;

/**
 * Leaves of the rows of jobs how they ended, so that none runs again, and takes what their results have too. Returns the ids
 * of those that stay: their results are not in the store, or they were opened again meanwhile.
 */
export async function pruneJobs(
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
    // Named by no row any more.
    if (outcome.staged !== undefined) await store.delete(outcome.staged);
    return undefined;
  };
  const left = await Array.fromAsync(readAhead({ items: jobs, read, concurrency: AT_ONCE, signal }));
  return left.filter((id) => id !== undefined);
}

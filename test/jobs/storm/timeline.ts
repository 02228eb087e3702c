import { appendFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { hasEnded, type JobRow } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import type { BudgetItem } from '../../../lib/pace/budget.ts';
import type { PlatformCounts } from '../../../lib/sandbox/platform/counts.ts';
import type { StormJob } from './jobs.ts';

export type TimelineParts = {
  /** When the last fault ended. */
  readonly calmAt: number;
  readonly jobs: ReadonlyMap<string, StormJob>;
  readonly ledger: Pick<Ledger, 'list'>;
  readonly queue: Pick<Queue, 'counts'>;
  readonly item: Pick<BudgetItem, 'read'>;
  readonly counts: () => PlatformCounts;
};

const EVERY_MS = 1_000;

/**
 * Makes a function that writes, once a second, what everything waits for to the file that STORM_TIMELINE names, as a
 * line of JSON; nothing if it is not set. Times are in milliseconds from then.
 */
export function createTimeline(parts: TimelineParts): () => Promise<void> {
  const file = process.env['STORM_TIMELINE'];
  let writtenAt = 0;
  return async () => {
    if (file === undefined || Date.now() - writtenAt < EVERY_MS) return;
    writtenAt = Date.now();
    appendFileSync(file, `${JSON.stringify(await lineOf(parts))}\n`);
  };
}

async function lineOf({ calmAt, jobs, ledger, queue, item, counts }: TimelineParts): Promise<object> {
  const nowMs = Date.now();
  const rows = new Map<string, JobRow>();
  for await (const row of ledger.list()) rows.set(row.id, row);
  const open = [...jobs].flatMap(([id, { body }]) => {
    const row = rows.get(id);
    return row !== undefined && hasEnded(row) ? [] : [{ id, type: body.type, ...openOf(row, nowMs) }];
  });
  const { tatMs, incidents, lowered, breaker, tally } = await item.read();
  return {
    afterMs: nowMs - calmAt,
    load: loadavg()[0],
    queue: await queue.counts(),
    requests: counts().requests,
    // The line's end; what a 429 and an outage of the platform left behind.
    aheadMs: tatMs === undefined ? undefined : Math.round(tatMs - nowMs),
    incidents,
    lowered,
    breaker,
    tally,
    open,
  };
}

/** What an open job waits for: `leftMs` is how long somebody still has it, negative if nobody has. */
function openOf(row: JobRow | undefined, nowMs: number) {
  if (row === undefined) return { state: 'never claimed' };
  const { state, fence, attempts, unsentTries, takeovers, leaseUntilMs } = row;
  const leftMs = leaseUntilMs === undefined ? undefined : Math.round(leaseUntilMs - nowMs);
  return { state, fence, attempts, unsentTries, takeovers, leftMs };
}

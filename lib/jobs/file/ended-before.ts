import { type EndedJobRow, hasEnded, type Outcome } from '../ledger/job-row.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readListed } from '../results/read-listed.ts';
import type { FileRow, JobFile } from './job-file.ts';

/** Why a job is not run whose id another one has: its template, or its row, was changed. */
export const OTHER_CONTENT =
  'another job has this id, with other content: has the template or the row changed since? --name NAME makes these rows another set, whose jobs all run';

/** How jobs of a file had ended before: how many in each way, and when the first and the last did, epoch milliseconds. */
export type EndedBefore = Record<'ended' | Outcome['status'] | 'firstMs' | 'lastMs' | 'otherContent', number>;

export const noneBefore = (): EndedBefore => ({
  ...{ ended: 0, done: 0, failed: 0, unknown: 0, otherContent: 0 },
  ...{ firstMs: Number.POSITIVE_INFINITY, lastMs: 0 },
});

/** Counts a job that had ended. */
export function addEnded(before: EndedBefore, { outcome, finishedAt }: EndedJobRow): void {
  before.ended += 1;
  before[outcome.status] += 1;
  before.firstMs = Math.min(before.firstMs, finishedAt);
  before.lastMs = Math.max(before.lastMs, finishedAt);
}

const AT_ONCE = 16;

/** Reads the ledger's row of each job of a file. */
export async function endedBefore(jobs: JobFile, ledger: Pick<Ledger, 'read'>): Promise<EndedBefore> {
  const before = noneBefore();
  const read = async ({ id, contentHash }: FileRow) => ({
    row: await ledger.read(id),
    contentHash,
  });
  for await (const { row, contentHash } of readListed(jobs.rows(), { read, concurrency: AT_ONCE })) {
    if (row === undefined) continue;
    if (row.contentHash !== undefined && row.contentHash !== contentHash) before.otherContent += 1;
    else if (hasEnded(row)) addEnded(before, row);
  }
  return before;
}

import { existsSync } from 'node:fs';
import { ServiceError } from '../../base/aws/index.ts';
import { sqlitePath } from '../../places.ts';
import { type Environment, readSyncSettings } from '../../settings.ts';
import { openTimedTable } from '../job-storage.ts';
import { type EndedJobRow, hasEnded, type Outcome } from '../ledger/job-row.ts';
import { createLedger, type Ledger } from '../ledger/ledger.ts';
import { readListed } from '../results/read-listed.ts';
import type { FileRow, JobFile } from './job-file.ts';

/**
 * How many jobs of a file had ended before, by outcome, and when the first and the last of them did, in epoch
 * milliseconds.
 */
export type EndedBefore = Record<'ended' | Outcome['status'] | 'firstMs' | 'lastMs' | 'otherContent', number>;

export const noneBefore = (): EndedBefore => ({
  ended: 0,
  done: 0,
  failed: 0,
  unknown: 0,
  otherContent: 0,
  firstMs: Number.POSITIVE_INFINITY,
  lastMs: 0,
});

/** Counts a job that had ended. */
export function addEnded(before: EndedBefore, { outcome, finishedAt }: EndedJobRow): void {
  before.ended += 1;
  before[outcome.status] += 1;
  before.firstMs = Math.min(before.firstMs, finishedAt);
  before.lastMs = Math.max(before.lastMs, finishedAt);
}

/**
 * How many jobs of a file had ended before, according to the configured ledger; undefined if there is none, or it
 * cannot be read, as by a user who may only submit. Creates nothing.
 */
export async function endedBeforeHere(
  jobs: JobFile,
  environment: Environment,
): Promise<EndedBefore | undefined> {
  const { SYNC_TABLE: tableName } = readSyncSettings(environment);
  if (tableName === undefined) return undefined;
  const path = sqlitePath(tableName);
  if (path !== undefined && !existsSync(path)) return noneBefore();
  try {
    return await endedBefore(jobs, createLedger(await openTimedTable(tableName, environment)));
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

const AT_ONCE = 16;

/** Reads the ledger's row of each job of a file. */
async function endedBefore(jobs: JobFile, ledger: Pick<Ledger, 'read'>): Promise<EndedBefore> {
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

import { randomUUID } from 'node:crypto';
import { openQueue } from '../../jobs/queue/open-queue.ts';
import { sqlitePath } from '../../table/index.ts';
import { type Check, failed, ok, skipped } from './check.ts';

/** The store can be written to, read, listed and deleted from: an object of its own, which expires if it is left. */
export const checkBucket: Check = async ({ session, signal }) => {
  const store = await session.store();
  const key = `work/doctor/${randomUUID()}.json`;
  await store.put(key, Buffer.from('{}\n'), { signal });
  try {
    const read = await store.get(key, { signal });
    const listed = [];
    for await (const each of store.list(key, { signal })) listed.push(each.key);
    if (read?.body.toString() !== '{}\n' || listed.join() !== key)
      return failed(`${store.location}: what was written is not what is read`);
  } finally {
    await store.delete(key);
  }
  return ok(`${store.location}: written, read, listed and deleted`);
};

/** The queues of jobs exist, and may be asked for their numbers. */
export const checkQueue: Check = async ({ settings, environment }) => {
  const { SYNC_QUEUE_URL: jobs, SYNC_DEAD_LETTER_URL: dead } = settings;
  if (jobs === undefined) return skipped('SYNC_QUEUE_URL is not set: no jobs from a queue');
  const { waiting, inFlight, delayed } = await (await openQueue(jobs, environment)).counts();
  const words = `about ${waiting} waiting, ${inFlight} being worked on, ${delayed} delayed`;
  if (dead === undefined) return ok(`${words}; SYNC_DEAD_LETTER_URL is not set`);
  const letters = await (await openQueue(dead, environment, 'dead')).counts();
  return ok(`${words}, ${letters.waiting} dead letters`);
};

/** What somebody with a backup must know. */
const RESTORED =
  '; a file that is restored from an older copy forgets what was sent since, and sends it again';

/** A row that was left would be deleted by then. */
const ROW_MS = 3_600_000;

/** The table exists, has our keys, and can be written to, read and deleted from. */
export const checkTable: Check = async ({ settings: { SYNC_TABLE: tableName }, environment, now }) => {
  if (tableName === undefined)
    return skipped('SYNC_TABLE is not set, and the queue is in SQS: `work` needs its table');
  const { openTimedTable } = await import('../../jobs/timed-table.ts');
  const { table } = await openTimedTable(tableName, environment);
  const key = { partition: `doctor#${randomUUID()}`, sort: 'doctor' };
  const token = randomUUID();
  await table.put(key, { version: 1 }, { expected: null, token, expiresAtMs: now() + ROW_MS });
  const read = await table.get(key);
  await table.delete(key, token);
  return read?.token === token
    ? ok(`${tableName}: written, read and deleted${sqlitePath(tableName) === undefined ? '' : RESTORED}`)
    : failed(`${tableName}: what was written is not what is read`);
};

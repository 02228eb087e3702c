import { cancelBatch, cancelJob, type Ledger, openQueue } from '../../jobs/index.ts';
import { batchNames } from '../../jobs/texts/index.ts';
import { isCancelled } from '../../jobs/types/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import { readSyncSettings } from '../../settings.ts';
import type { Run } from '../command.ts';
import { oneGiven, unknownError } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import type { CommandResult, Terminal } from '../terminal/terminal.ts';

/** Cancels jobs that have not been sent. Does not need the platform. */
export default (async ([ids], flags, terminal) => {
  oneGiven({ 'ids of jobs': ids[0], '--batch': flags.batch }, 'needed');
  return flags.batch === undefined ? cancelJobs(ids, terminal) : cancelOneBatch(flags.batch, terminal);
}) satisfies Run<'jobs cancel'>;

async function cancelJobs(ids: readonly string[], terminal: Terminal): Promise<CommandResult> {
  const { ledger } = await openJobs(terminal);
  await refuseUnknown(ids, ledger, terminal);
  const jobs: Job[] = [];
  for (const id of ids) {
    terminal.signal.throwIfAborted();
    jobs.push({ id, answer: await cancelJob(id, ledger) });
  }
  return {
    json: jobs.map(toCancelled),
    words: jobs.map(describe),
    ended: jobs.every(({ answer }) => isCancelled(answer.row)) ? 'done' : 'incomplete',
  };
}

/**
 * Throws for an id that is neither in the ledger nor on the queue, since it is most likely mistyped. Checks nothing if
 * the queue cannot list its messages, as SQS cannot.
 */
async function refuseUnknown(
  ids: readonly string[],
  ledger: Pick<Ledger, 'list'>,
  { environment }: Terminal,
): Promise<void> {
  const { SYNC_QUEUE_URL: url } = readSyncSettings(environment);
  const queue = url === undefined ? undefined : await openQueue(url, environment);
  if (queue?.ids === undefined) return;
  const known = new Set(await queue.ids());
  for await (const { id } of ledger.list()) known.add(id);
  const other = ids.find((id) => !known.has(id));
  if (other !== undefined) throw unknownError('job', other, 'neither in the ledger nor on the queue', known);
}

type Job = { readonly id: string; readonly answer: Awaited<ReturnType<typeof cancelJob>> };

const toCancelled = ({ id, answer: { kind: became, row } }: Job) => ({
  id,
  became,
  status: lowerCase(row.state),
  isCancelled: isCancelled(row),
});

const describe = ({ id, answer }: Job) => `${id}: ${describeCancel(answer)}`;

async function cancelOneBatch(batch: string, terminal: Terminal): Promise<CommandResult> {
  const { signal, err } = terminal;
  const parts = await openJobs(terminal);
  const { jobs, ...counts } = await cancelBatch(batch, { ...parts, signal });
  if (counts.chunks === 0)
    throw unknownError('batch', batch, 'not in the ledger', await batchNames(parts.batches.store));
  if (!counts.isSplit)
    err(
      'platform-sync: the batch is still being split: run the same command again later to cancel the remaining chunks',
    );
  const isDone = counts.isSplit && jobs.every(({ answer }) => isCancelled(answer.row));
  return {
    json: { ...counts, jobs: jobs.map(toCancelled) },
    words: [
      `batch ${batch}: ${counts.ended} of ${counts.chunks} chunks had already ended`,
      ...jobs.map((job) => `  ${describe(job)}`),
    ],
    ended: isDone ? 'done' : 'incomplete',
  };
}

function describeCancel({ kind, row }: Awaited<ReturnType<typeof cancelJob>>): string {
  switch (kind) {
    case 'cancelled':
      if (row.cancelled) return 'cancelled; it had failed, and only `redrive` with its id reopens it';
      return row.type === undefined ? 'cancelled; no worker has received its message yet' : 'cancelled';
    case 'stopping':
      return 'in progress; within seconds its worker stops sending, and stores the results that it has';
    case 'sent':
      return 'already sent; it cannot be cancelled';
    case 'ended': {
      const error = row.outcome?.error?.kind;
      return `already ended as ${lowerCase(row.state)}${error === undefined ? '' : ` (${error})`}`;
    }
    default:
      return kind satisfies never;
  }
}

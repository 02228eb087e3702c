import { cancelBatch } from '../../jobs/cancel-batch.ts';
import { isCancelled } from '../../jobs/ledger/job-row.ts';
import type { CancelAnswer } from '../../jobs/ledger/person-steps.ts';
import { sendsMany } from '../../jobs/types/job-types.ts';
import type { FlagsOf, Run } from '../commands.ts';
import { oneGiven } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { exitCodes, inJson, shown, type Terminal } from '../terminal/terminal.ts';

/** Cancels what has not been sent. Does not need the platform. */
export default (async ([ids], flags, terminal) => {
  oneGiven({ 'ids of jobs': ids[0], '--batch': flags.batch }, 'needed');
  return flags.batch === undefined
    ? cancelJobs(ids, flags, terminal)
    : cancelOneBatch(flags.batch, flags, terminal);
}) satisfies Run<'jobs cancel'>;

type CancelFlags = FlagsOf<'jobs cancel'>;

async function cancelJobs(
  ids: readonly string[],
  { json }: CancelFlags,
  terminal: Terminal,
): Promise<number> {
  const { ledger } = await openJobs(terminal);
  const outcomes: ReturnType<typeof toCancelled>[] = [];
  for (const id of ids) {
    terminal.signal.throwIfAborted();
    const outcome = await ledger.cancel(id, { stops: sendsMany });
    outcomes.push(toCancelled(id, outcome));
    if (!json) terminal.out(shown(`${id}: ${describeCancel(outcome)}`));
  }
  if (json) terminal.out(inJson(outcomes));
  return outcomes.every((each) => each.isCancelled) ? exitCodes.done : exitCodes.incomplete;
}

const toCancelled = (id: string, { kind: became, row }: CancelAnswer) => ({
  id,
  became,
  state: row.state,
  isCancelled: isCancelled(row),
});

async function cancelOneBatch(batch: string, { json }: CancelFlags, terminal: Terminal): Promise<number> {
  const { signal, out, err } = terminal;
  const parts = await openJobs(terminal);
  const { jobs, ...counts } = await cancelBatch(batch, { ...parts, signal });
  if (counts.chunks === 0) {
    err(shown(`platform-sync: batch ${batch}: not in the table`));
    return exitCodes.failed;
  }
  const outcomes = jobs.map(({ id, answer }) => toCancelled(id, answer));
  if (json) out(inJson({ ...counts, jobs: outcomes }));
  else {
    out(shown(`batch ${batch}: ${counts.ended} of ${counts.chunks} chunks had ended`));
    for (const { id, answer } of jobs) out(shown(`  ${id}: ${describeCancel(answer)}`));
  }
  if (!counts.isSplit)
    err('platform-sync: the batch is still being split: cancel it again for the chunks that come');
  return counts.isSplit && outcomes.every((each) => each.isCancelled) ? exitCodes.done : exitCodes.incomplete;
}

function describeCancel({ kind, row }: CancelAnswer): string {
  switch (kind) {
    case 'cancelled':
      if (row.cancelled) return 'cancelled; it had failed, and only `redrive` with its id reopens it';
      return row.type === undefined ? 'cancelled; its message has not been seen yet' : 'cancelled';
    case 'stopping':
      return 'under way; its worker sends no more within seconds, and stores what it has';
    case 'sent':
      return 'already sent; it cannot be cancelled';
    case 'ended': {
      const error = row.outcome?.error?.kind;
      return `already ended as ${row.state}${error === undefined ? '' : ` (${error})`}`;
    }
    default:
      return kind satisfies never;
  }
}

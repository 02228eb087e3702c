import type { Command } from 'commander';
import { isCancelled, type JobState } from '../../jobs/ledger/job-row.ts';
import type { CancelAnswer } from '../../jobs/ledger/ledger.ts';
import type { Finish } from '../command.ts';
import { openLedgerFor } from '../open-ledger-for.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';

/** `jobs cancel ID...`: cancels what has not been sent. Does not need the platform. */
export function addCancel(jobs: Command, terminal: Terminal, finish: Finish): void {
  jobs
    .command('cancel')
    .description('Cancel jobs that have not been sent, even if their messages have not been seen yet.')
    .argument('<id...>', 'the ids of the jobs')
    .option('--json', 'print what happened to each job as one JSON value')
    .action(async (ids: readonly string[], flags: { readonly json?: true }) =>
      finish(await cancel(ids, flags, terminal)),
    );
}

async function cancel(
  given: readonly string[],
  { json }: { readonly json?: true },
  terminal: Terminal,
): Promise<number> {
  const { checkedJobIds } = await import('../open-jobs.ts');
  const ids = checkedJobIds(given);
  const ledger = await openLedgerFor('jobs cancel', terminal);
  const outcomes: { id: string; became: CancelAnswer['kind']; state: JobState; isCancelled: boolean }[] = [];
  for (const id of ids) {
    terminal.signal.throwIfAborted();
    const outcome = await ledger.cancel(id);
    const { kind: became, row } = outcome;
    outcomes.push({ id, became, state: row.state, isCancelled: isCancelled(row) });
    if (!json) terminal.out(shown(`${id}: ${describeCancel(outcome)}`));
  }
  if (json) terminal.out(JSON.stringify(outcomes, undefined, 2));
  return outcomes.every((each) => each.isCancelled) ? exitCodes.done : exitCodes.incomplete;
}

function describeCancel({ kind, row }: CancelAnswer): string {
  switch (kind) {
    case 'cancelled':
      if (row.cancelled) return 'cancelled; it had failed, and only `redrive` with its id reopens it';
      return row.type === undefined ? 'cancelled; its message has not been seen yet' : 'cancelled';
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

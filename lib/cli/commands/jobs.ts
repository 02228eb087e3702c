import type { Command } from 'commander';
import type { JobRow, JobState } from '../../jobs/ledger/job-row.ts';
import type { CancelAnswer } from '../../jobs/ledger/ledger.ts';
import { readSyncSettings } from '../../settings.ts';
import { inColumns } from '../columns.ts';
import type { AddCommand, Finish } from '../command.ts';
import { openStoreOf } from '../open-store-of.ts';
import { choiceOption, numberOption } from '../options.ts';
import { settingFor } from '../setting-for.ts';
import { exitCodes, shown, shownJson, type Terminal } from '../terminal.ts';

type JobsFlags = { readonly limit: number; readonly state?: JobState; readonly json?: true };

const STATES = ['CLAIMED', 'SENT', 'DONE', 'FAILED', 'UNKNOWN'] as const satisfies readonly JobState[];

/** `jobs [ID]`: what the ledger holds; `jobs cancel ID`: cancels what has not been sent. Does not need the platform. */
export const addJobs: AddCommand = (program, terminal, finish) => {
  const jobs = program
    .command('jobs')
    .description('List the jobs in the ledger, newest first, or show the result of one.')
    .enablePositionalOptions()
    .argument('[id]', 'the job to show: its result, or its row in the ledger if it has no result yet')
    .option('--limit <n>', 'the most jobs to list', numberOption(1, 10_000), 20)
    .option('--state <state>', `only jobs in this state: one of ${STATES.join(', ')}`, choiceOption(STATES))
    .option('--json', 'print the jobs as one JSON value')
    .action(async (id: string | undefined, flags: JobsFlags) =>
      finish(await (id === undefined ? listJobs(flags, terminal) : showJob(id, terminal))),
    );
  addCancel(jobs, terminal, finish);
};

async function openLedgerFor(command: string, { environment }: Terminal) {
  const tableName = settingFor(command, readSyncSettings(environment), 'SYNC_TABLE');
  const { openLedger } = await import('../open-jobs.ts');
  return openLedger(tableName, environment);
}

async function listJobs({ limit, state, json }: JobsFlags, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerFor('jobs', terminal);
  let newest: JobRow[] = [];
  let found = 0;
  for await (const row of ledger.list()) {
    terminal.signal.throwIfAborted();
    if (state !== undefined && row.state !== state) continue;
    found += 1;
    newest.push(row);
    // The ledger may hold far more jobs than are listed.
    if (newest.length >= 2 * limit) newest = newestOf(newest, limit);
  }
  const listed = newestOf(newest, limit).map(toListed);
  if (json) terminal.out(JSON.stringify(listed, undefined, 2));
  else if (listed.length === 0) terminal.out(`no jobs${state === undefined ? '' : ` are ${state}`}`);
  else for (const line of inColumns(HEADER, listed.map(cells))) terminal.out(line);
  const left = found - listed.length;
  if (left > 0)
    terminal.err(`${left} earlier ${left === 1 ? 'job' : 'jobs'} not listed; use --limit to list more`);
  return exitCodes.done;
}

const newestOf = (rows: readonly JobRow[], limit: number): JobRow[] =>
  rows.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)).slice(0, limit);

const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

const toListed = ({ id, type, state, attempts, startedAt, finishedAt, outcome }: JobRow) => ({
  id,
  // Null if the job was cancelled before its message was seen.
  type: type ?? null,
  state,
  attempts,
  startedAt: time(startedAt),
  finishedAt: time(finishedAt),
  error: outcome?.error ?? null,
});

const HEADER = ['ID', 'TYPE', 'STATE', 'ATTEMPTS', 'STARTED', 'FINISHED', 'ERROR'];

const cells = ({ id, type, state, attempts, startedAt, finishedAt, error }: ReturnType<typeof toListed>) =>
  [
    id,
    type ?? '-',
    state,
    String(attempts),
    startedAt ?? '-',
    finishedAt ?? '-',
    error === null ? '' : `${error.kind}: ${error.message}`,
  ].map(shown);

/** Prints JSON with or without `--json`: a result has no other form. */
async function showJob(given: string, terminal: Terminal): Promise<number> {
  const { checkedJobIds } = await import('../open-jobs.ts');
  const [id = ''] = checkedJobIds([given]);
  const ledger = await openLedgerFor('jobs', terminal);
  const row = await ledger.read(id);
  if (row === undefined) {
    terminal.err(`platform-sync: job ${id}: not in the ledger`);
    return exitCodes.failed;
  }
  terminal.out(shownJson((await resultOf(row, terminal)) ?? JSON.stringify(known(row), undefined, 2)));
  return exitCodes.done;
}

/** The stored result, if there is one. */
async function resultOf({ id, type, dt, outcome }: JobRow, terminal: Terminal): Promise<string | undefined> {
  if (type === undefined || outcome === undefined) return undefined;
  const { resultKey } = await import('../../jobs/result.ts');
  const { parseJson, printJson } = await import('../../json/json.ts');
  const store = await openStoreOf(terminal.environment);
  const stored = await store.get(resultKey({ id, type, dt }));
  return stored && printJson(parseJson(stored.body.toString()), 2);
}

function known(row: JobRow) {
  const { error: _, ...listed } = toListed(row);
  return { ...listed, sender: row.sender ?? null, leaseUntil: time(row.leaseUntilMs), outcome: row.outcome };
}

function addCancel(jobs: Command, terminal: Terminal, finish: Finish): void {
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
    const isCancelled = outcome.row.outcome?.error?.kind === 'cancelled';
    outcomes.push({ id, became: outcome.kind, state: outcome.row.state, isCancelled });
    if (!json) terminal.out(shown(`${id}: ${describeCancel(outcome)}`));
  }
  if (json) terminal.out(JSON.stringify(outcomes, undefined, 2));
  return outcomes.every(({ isCancelled }) => isCancelled) ? exitCodes.done : exitCodes.incomplete;
}

function describeCancel({ kind, row }: CancelAnswer): string {
  switch (kind) {
    case 'cancelled':
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

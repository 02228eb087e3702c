import { shownJson } from '../../base/index.ts';
import { type JobRow, jobStates } from '../../jobs/ledger/job-row.ts';
import { defineCommand } from '../command.ts';
import { openLedgerFor, openStoreOf } from '../options/from-settings.ts';
import { choiceOption, numberOption } from '../options/options.ts';
import { inColumns } from '../terminal/columns.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { inJson, notListed } from '../terminal/words.ts';
import { cancel } from './jobs-cancel.ts';
import { resolve } from './jobs-resolve.ts';
import { results } from './jobs-results.ts';

type JobsFlags = { readonly limit: number; readonly state?: JobRow['state']; readonly json?: true };

const readState = choiceOption(jobStates);

/** `jobs [ID]`: what the ledger holds; `jobs cancel`, `jobs resolve`. Does not need the platform. */
export const jobs = defineCommand({
  does: 'List the jobs in the ledger, newest first, and count those on the queue; or show the result of one.',
  arguments: [['[id]', 'the job to show: its result, or its row in the ledger if it has no result yet']],
  options: [
    ['--limit <n>', 'the most jobs to list', numberOption(1, 10_000), 20],
    ['--state <state>', `only jobs in this state: one of ${jobStates.join(', ')}`, readState],
    ['--json', 'print the jobs as one JSON value'],
  ],
  examples: [
    'jobs --state UNKNOWN',
    'jobs nightly-1',
    'jobs resolve nightly-1 done --note "seen on the platform"',
  ],
  below: { results, cancel, resolve },
  run: ([id], flags, terminal) => (id === undefined ? listJobs(flags, terminal) : showJob(id, terminal)),
});

async function listJobs({ limit, state, json }: JobsFlags, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerFor('jobs', terminal);
  // Meanwhile, since neither needs the other.
  const { queueLines } = await import('../jobs/queue-counts.ts');
  const queued = state === undefined ? queueLines(terminal) : [];
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
  if (json) terminal.out(inJson(listed));
  else if (listed.length === 0) terminal.out(`no jobs${state === undefined ? '' : ` are ${state}`}`);
  else for (const line of inColumns(HEADER, listed.map(cells), terminal)) terminal.out(line);
  for (const line of await queued) (json ? terminal.err : terminal.out)(line);
  for (const line of notListed(found - listed.length, 'job')) terminal.err(line);
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
  const { checkedJobIds } = await import('../jobs/open-jobs.ts');
  const [id = ''] = checkedJobIds([given]);
  const ledger = await openLedgerFor('jobs', terminal);
  const row = await ledger.read(id);
  if (row === undefined) {
    terminal.err(`platform-sync: job ${id}: not in the ledger`);
    return exitCodes.failed;
  }
  terminal.out(shownJson((await resultOf(row, terminal)) ?? inJson(known(row))));
  return exitCodes.done;
}

/** The stored result, if there is one. */
async function resultOf({ id, type, dt, outcome }: JobRow, terminal: Terminal): Promise<string | undefined> {
  if (type === undefined || outcome === undefined) return undefined;
  const { findResult } = await import('../../jobs/results/stored-results.ts');
  const { printJson } = await import('../../base/index.ts');
  const store = await openStoreOf(terminal);
  const stored = await findResult(store, { id, type, dt });
  return stored && (stored.value === undefined ? stored.text : printJson(stored.value, 2));
}

function known(row: JobRow) {
  const { error: _, ...listed } = toListed(row);
  return { ...listed, sender: row.sender ?? null, leaseUntil: time(row.leaseUntilMs), outcome: row.outcome };
}

import { errorText, shownJson } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import { adviceSentence, findResult, openQueue, type Queue } from '../../jobs/index.ts';
import { isPruned, type JobRow } from '../../jobs/types/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import { readSyncSettings } from '../../settings.ts';
import type { Store } from '../../store/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { unknownJob } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import {
  type CommandResult,
  type ExitStatus,
  inColumns,
  notListed,
  number,
  shown,
  type Terminal,
} from '../terminal/terminal.ts';

/** Lists the jobs in the ledger. Does not need the platform. */
export default (async ([id], flags, terminal) =>
  id === undefined ? listJobs(flags, terminal) : showJob(id, terminal)) satisfies Run<'jobs'>;

async function listJobs(
  { limit, status, json }: FlagsOf<'jobs'>,
  terminal: Terminal,
): Promise<CommandResult> {
  const { ledger } = await openJobs(terminal);
  // The queues and the ledger are read in parallel.
  const queued = status === undefined ? queueLines(terminal) : [];
  let newest: JobRow[] = [];
  let found = 0;
  for await (const row of ledger.list()) {
    terminal.signal.throwIfAborted();
    if (isPruned(row) || (status !== undefined && lowerCase(row.state) !== status)) continue;
    found += 1;
    newest.push(row);
    // The list is shortened from time to time, since the ledger may have far more jobs than are listed.
    if (newest.length >= 2 * limit) newest = newestOf(newest, limit);
  }
  const listed = newestOf(newest, limit).map(toListed);
  const counts = await queued;
  for (const line of [...(json ? counts : []), ...notListed(found - listed.length, 'job')])
    terminal.err(line);
  const none = [`no jobs${status === undefined ? '' : ` are ${status}`}`];
  const lines = listed.length === 0 ? none : inColumns(HEADER, listed.map(cells));
  return { json: listed, words: [...lines, ...counts] };
}

const newestOf = (rows: readonly JobRow[], limit: number): JobRow[] =>
  rows.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)).slice(0, limit);

const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

const toListed = ({ id, type, state, attempts, startedAt, finishedAt, outcome }: JobRow) => ({
  id,
  // The type is null if the job was cancelled before a worker received its message.
  type: type ?? null,
  status: lowerCase(state),
  attempts,
  startedAt: time(startedAt),
  finishedAt: time(finishedAt),
  error: outcome?.error ?? null,
});

const HEADER = ['ID', 'TYPE', 'STATUS', 'ATTEMPTS', 'STARTED', 'FINISHED', 'ERROR'];

const cells = ({ id, type, status, attempts, startedAt, finishedAt, error }: ReturnType<typeof toListed>) =>
  [
    id,
    type ?? '-',
    status,
    String(attempts),
    startedAt ?? '-',
    finishedAt ?? '-',
    error === null ? '' : `${error.kind}: ${error.message}`,
  ].map(shown);

/** Prints the result of a job as JSON, even without `--json`. */
async function showJob(id: string, terminal: Terminal): Promise<ExitStatus> {
  const { ledger, batches } = await openJobs(terminal);
  const row = await ledger.read(id);
  if (row === undefined) throw await unknownJob(id, ledger);
  terminal.out(shownJson((await resultOf(row, batches.store)) ?? printJson(jobWithoutResult(row), 2)));
  const { outcome } = row;
  if (outcome?.status === 'failed' || outcome?.status === 'unknown')
    terminal.err(shown(adviceSentence(id, outcome.status, outcome.error)));
  return 'done';
}

/** The stored result of a job, as JSON; undefined if the job has no result. */
async function resultOf(row: JobRow, store: Store): Promise<string | undefined> {
  const { type, outcome } = row;
  if (type === undefined || outcome === undefined) return undefined;
  const stored = await findResult(store, { ...row, type });
  return stored && (stored.value === undefined ? stored.text : printJson(stored.value, 2));
}

function jobWithoutResult(row: JobRow) {
  const { error: _, ...listed } = toListed(row);
  return { ...listed, sender: row.sender ?? null, leaseUntil: time(row.leaseUntilMs), outcome: row.outcome };
}

/** The counts of the queues, one a line. SQS's counts are approximate, and up to a minute old. */
async function queueLines({ environment }: Pick<Terminal, 'environment'>): Promise<readonly string[]> {
  const { SYNC_QUEUE_URL: queue, SYNC_DEAD_LETTER_URL: dead } = readSyncSettings(environment);
  const countDead = ({ waiting, inFlight, delayed }: QueueCounts) => about(waiting + inFlight + delayed);
  return Promise.all([
    ...(queue ? [lineOf('on the queue', openQueue(queue, environment), describeCounts)] : []),
    ...(dead ? [lineOf('dead letters', openQueue(dead, environment, 'dead'), countDead)] : []),
  ]);
}

type QueueCounts = Awaited<ReturnType<Queue['counts']>>;

async function lineOf(
  name: string,
  queue: Promise<Queue>,
  describe: (counts: QueueCounts) => string,
): Promise<string> {
  try {
    return `${name}: ${describe(await (await queue).counts())}`;
  } catch (error) {
    return shown(`${name}: unknown: ${errorText(error)}`);
  }
}

const describeCounts = ({ waiting, inFlight, delayed }: QueueCounts) =>
  waiting + inFlight + delayed === 0
    ? 'nothing'
    : `${about(waiting)} queued, ${number(inFlight)} being worked on or delayed, ${number(delayed)} sent with a delay`;
const about = (value: number) => (value === 0 ? '0' : `about ${number(value)}`);

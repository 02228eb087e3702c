import { type Advice, adviceFor } from '../../jobs/job-advice.ts';
import type { JobRow } from '../../jobs/ledger/job-row.ts';
import { findResult, storedResults } from '../../jobs/results/stored-results.ts';
import { firstLine, shortened } from '../../json/faults.ts';
import { TableError } from '../../table/table-error.ts';
import type { ToolCall } from './tool.ts';

/** Those first that somebody must look at. */
export const STATES = ['unknown', 'failed', 'sent', 'claimed', 'done'] as const;

type State = (typeof STATES)[number];

export type ShownJob = {
  readonly id: string;
  readonly type: string | null;
  readonly state: State;
  readonly attempts: number;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly error: string | null;
  readonly whatToDo: Advice | null;
};

type Jobs = {
  readonly from: 'ledger' | 'results';
  /** Why the ledger was not read, or what was not read of the results. */
  readonly note?: string | undefined;
  readonly counts: Record<State, number>;
};

type Wanted = { readonly state: State | undefined; readonly sinceMs: number; readonly most: number };

/** The most stored results that are read in one call. */
const MOST_RESULTS = 20_000;
/** The most jobs that can be paged through. */
const MOST_JOBS = 5_000;

/** The jobs that are wanted: the unknown ones first, then the failed ones, newest first; at most `most` of them. */
export async function findJobs(
  call: ToolCall,
  wanted: Wanted,
): Promise<Jobs & { readonly listed: readonly ShownJob[] }> {
  const most = Math.min(MOST_JOBS, wanted.most);
  const counts: Record<State, number> = { unknown: 0, failed: 0, sent: 0, claimed: 0, done: 0 };
  let listed: ShownJob[] = [];
  const { from, note, jobs } = await openJobs(call, wanted.sinceMs);
  let read = 0;
  let cut: string | undefined;
  for await (const job of jobs) {
    call.signal.throwIfAborted();
    counts[job.state] += 1;
    read += 1;
    if (from === 'results' && read >= MOST_RESULTS) {
      cut = `only ${MOST_RESULTS} results were read: ask for fewer days`;
      break;
    }
    if (wanted.state !== undefined && job.state !== wanted.state) continue;
    listed.push(job);
    if (listed.length >= 2 * most) listed = firstOf(listed, most);
  }
  const notes = [note, cut].filter((each) => each !== undefined).join('; ');
  return { from, ...(notes === '' ? {} : { note: notes }), counts, listed: firstOf(listed, most) };
}

const firstOf = (jobs: readonly ShownJob[], most: number): ShownJob[] =>
  jobs.toSorted((a, b) => rank(a) - rank(b) || newestFirst(a, b) || (a.id < b.id ? -1 : 1)).slice(0, most);

const rank = ({ state }: ShownJob): number => STATES.indexOf(state);

const timeOf = ({ finishedAt, startedAt }: ShownJob): string => finishedAt ?? startedAt ?? '';

function newestFirst(a: ShownJob, b: ShownJob): number {
  const [left, right] = [timeOf(a), timeOf(b)];
  return left === right ? 0 : left < right ? 1 : -1;
}

type Opened = Pick<Jobs, 'from' | 'note'> & { readonly jobs: AsyncIterable<ShownJob> };

async function openJobs(call: ToolCall, sinceMs: number): Promise<Opened> {
  const results = async () => resultsIn(await call.store(), sinceMs, call.signal);
  try {
    const ledger = await call.ledger();
    if (ledger === undefined)
      return {
        from: 'results',
        note: 'SYNC_TABLE is not set: jobs that have not ended are not listed',
        jobs: await results(),
      };
    const rows = ledger.list();
    // A table that cannot be reached says so on the first read.
    const first = await rows.next();
    return { from: 'ledger', jobs: first.done ? none() : rowsAfter(first.value, rows) };
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const note = `the ledger cannot be read (${shortened(firstLine(error.message), LONGEST_ERROR)}): jobs that have not ended are not listed`;
    return { from: 'results', note, jobs: await results() };
  }
}

async function* none(): AsyncGenerator<ShownJob> {}

async function* rowsAfter(first: JobRow, rows: AsyncIterable<JobRow>): AsyncGenerator<ShownJob> {
  yield jobOfRow(first);
  for await (const row of rows) yield jobOfRow(row);
}

async function* resultsIn(
  store: Awaited<ReturnType<ToolCall['store']>>,
  sinceMs: number,
  signal: AbortSignal,
): AsyncGenerator<ShownJob> {
  for await (const { value } of storedResults(store, { sinceMs, signal }))
    if (value !== undefined) yield jobOfResult(value);
}

const LONGEST_ERROR = 400;

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

const STATE_OF = {
  CLAIMED: 'claimed',
  SENT: 'sent',
  DONE: 'done',
  FAILED: 'failed',
  UNKNOWN: 'unknown',
} as const satisfies Record<JobRow['state'], State>;

function jobOfRow({ id, type, state, attempts, startedAt, finishedAt, outcome }: JobRow): ShownJob {
  const error = outcome?.error;
  return withAdvice({
    id,
    type: type ?? null,
    state: STATE_OF[state],
    attempts,
    startedAt: iso(startedAt),
    finishedAt: iso(finishedAt),
    error: error === undefined ? null : shortened(`${error.kind}: ${error.message}`, LONGEST_ERROR),
  });
}

const textIn = (value: unknown): string | null =>
  typeof value === 'string' ? shortened(value, LONGEST_ERROR) : null;

function jobOfResult(value: Readonly<Record<string, unknown>>): ShownJob {
  const { id, type, status, attempts, startedAt, finishedAt, error } = value;
  const known = STATES.find((each) => each === status);
  const fault = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined;
  return withAdvice({
    id: textIn(id) ?? '',
    type: textIn(type),
    state: known ?? 'unknown',
    attempts: typeof attempts === 'number' ? attempts : 0,
    startedAt: textIn(startedAt),
    finishedAt: textIn(finishedAt),
    error: fault === undefined ? null : shortened(`${fault['kind']}: ${fault['message']}`, LONGEST_ERROR),
  });
}

const withAdvice = (job: Omit<ShownJob, 'whatToDo'>): ShownJob => ({
  ...job,
  whatToDo: job.state === 'failed' || job.state === 'unknown' ? adviceFor(job.id, job.state) : null,
});

/** A job by its id, with its stored result. */
export async function findOneJob(
  id: string,
  call: ToolCall,
  sinceMs: number,
): Promise<(Jobs & { readonly job: ShownJob; readonly result: string | undefined }) | undefined> {
  const counts: Record<State, number> = { unknown: 0, failed: 0, sent: 0, claimed: 0, done: 0 };
  const one = await rowOf(id, call);
  if (one !== undefined) {
    const { type, dt, outcome } = one;
    const result =
      type === undefined || outcome === undefined
        ? undefined
        : await findResult(await call.store(), { id, type, dt });
    const job = jobOfRow(one);
    return { from: 'ledger', counts: { ...counts, [job.state]: 1 }, job, result: result?.text };
  }
  for await (const { value, ...stored } of storedResults(await call.store(), {
    sinceMs,
    signal: call.signal,
  })) {
    if (value?.['id'] !== id || !('text' in stored)) continue;
    const job = jobOfResult(value);
    return { from: 'results', counts: { ...counts, [job.state]: 1 }, job, result: stored.text };
  }
  return undefined;
}

async function rowOf(id: string, { ledger }: ToolCall): Promise<JobRow | undefined> {
  try {
    return await (await ledger())?.read(id);
  } catch (error) {
    if (error instanceof TableError) return undefined;
    throw error;
  }
}

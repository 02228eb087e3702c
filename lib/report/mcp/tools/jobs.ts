import * as z from 'zod/mini';
import { firstLine, shortened } from '../../../base/index.ts';
import { adviceFor } from '../../../jobs/job-advice.ts';
import type { JobRow } from '../../../jobs/ledger/job-row.ts';
import { findResult, storedResults } from '../../../jobs/results/stored-results.ts';
import { TableError } from '../../../table/index.ts';
import { createRoom, listEnd, listInput, offsetOf, pageOf } from '../pages.ts';
import { defineTool, oneOf, READS, type ToolCall, ToolError, textInput } from '../tool.ts';

/** Those first that somebody must look at. */
const STATES = ['unknown', 'failed', 'sent', 'claimed', 'done'] as const;

type State = (typeof STATES)[number];

const nullable = z.nullable(z.string());
const count = z.number();

const job = z.object({
  id: z.string(),
  type: nullable,
  state: z.enum(STATES),
  attempts: z.number(),
  startedAt: nullable,
  finishedAt: nullable,
  error: nullable,
  whatToDo: z.nullable(
    z
      .object({
        say: z.string(),
        command: z.optional(z.enum(['jobs resolve', 'redrive'])),
        id: z.optional(z.string()),
        batch: z.optional(z.string()),
      })
      .check(z.describe('the command of platform-sync that a person runs, and the job or batch it is given')),
  ),
});

type ShownJob = z.infer<typeof job>;

const DAYS = 'a number of days from 1 to 400';

/** `jobs`: how jobs ended, those first that somebody must look at. */
export const jobs = defineTool({
  title: 'Jobs and their outcomes',
  description:
    'Lists jobs, those with an unknown outcome first, then failed ones, each with what to do; counts all by state. With id: the whole result of one. Reads the ledger if SYNC_TABLE is set and can be reached, otherwise the stored results of the last days.',
  annotations: READS,
  input: z.strictObject({
    id: z.optional(textInput('the id of a job, of at most 128 characters', 128)),
    state: z.optional(oneOf(STATES)),
    days: z._default(
      z
        .number({ error: DAYS })
        .check(z.gte(1, { error: DAYS }), z.lte(400, { error: DAYS }))
        .check(z.describe('of the stored results, only those of jobs that ended within so many days')),
      30,
    ),
    ...listInput,
  }),
  output: z.object({
    from: z.enum(['ledger', 'results']),
    note: z.optional(z.string()),
    counts: z.object({ unknown: count, failed: count, sent: count, claimed: count, done: count }),
    data: z.object({
      jobs: z.array(job),
      result: z.optional(nullable.check(z.describe('the stored result as the text of its JSON'))),
    }),
    ...listEnd,
  }),
  instead: 'run: platform-sync jobs',
  async run({ id, state, days, limit, cursor }, call) {
    const sinceMs = call.now() - days * 24 * 3_600_000;
    const counts: Record<State, number> = { unknown: 0, failed: 0, sent: 0, claimed: 0, done: 0 };
    if (id !== undefined) {
      const found = await findOneJob(id, call, sinceMs);
      if (found === undefined)
        throw new ToolError(`job ${id}: neither in the ledger nor among the results of ${days} days`);
      const { from, one, result = null } = found;
      counts[one.state] = 1;
      const { couldTake } = createRoom({ from, counts, data: { jobs: [one] }, isCut: true }, 1);
      const fits = couldTake(result);
      return { from, counts, data: { jobs: [one], result: fits ? result : null }, isCut: !fits };
    }
    const at = offsetOf(cursor);
    const { listed, ...rest } = await findJobs(call, { state, sinceMs, most: at + limit + 1 }, counts);
    const head = { ...rest, counts };
    const page = pageOf(listed.slice(at), { beside: { ...head, data: { jobs: [] } }, at, limit });
    return { ...head, data: { jobs: page.fitting }, ...page.end };
  },
});

type Wanted = { readonly state: State | undefined; readonly sinceMs: number; readonly most: number };

/** The most stored results that are read in one call. */
const MOST_RESULTS = 20_000;
/** The most jobs that can be paged through. */
const MOST_JOBS = 5_000;

/** The jobs that are wanted: the unknown ones first, then the failed ones, newest first; at most `most` of them. */
async function findJobs(call: ToolCall, wanted: Wanted, counts: Record<State, number>) {
  const most = Math.min(MOST_JOBS, wanted.most);
  const { from, note, jobs: all } = await openJobs(call, wanted.sinceMs);
  const notes = note === undefined ? [] : [note];
  let [listed, read]: [ShownJob[], number] = [[], 0];
  for await (const each of all) {
    call.signal.throwIfAborted();
    counts[each.state] += 1;
    read += 1;
    if (wanted.state === undefined || each.state === wanted.state) listed.push(each);
    if (listed.length >= 2 * most) listed = firstOf(listed, most);
    if (from === 'ledger' || read < MOST_RESULTS) continue;
    notes.push(`only ${MOST_RESULTS} results were read: ask for fewer days`);
    break;
  }
  return { from, ...(notes.length > 0 && { note: notes.join('; ') }), listed: firstOf(listed, most) };
}

const firstOf = (all: readonly ShownJob[], most: number): ShownJob[] =>
  all.toSorted((a, b) => rank(a) - rank(b) || newestFirst(a, b) || (a.id < b.id ? -1 : 1)).slice(0, most);

const rank = ({ state }: ShownJob): number => STATES.indexOf(state);

function newestFirst(a: ShownJob, b: ShownJob): number {
  const [left, right] = [a, b].map(({ finishedAt, startedAt }) => finishedAt ?? startedAt ?? '');
  return left === right ? 0 : (left ?? '') < (right ?? '') ? 1 : -1;
}

type Opened = {
  readonly from: 'ledger' | 'results';
  /** Why the ledger was not read. */
  readonly note?: string;
  readonly jobs: AsyncIterable<ShownJob>;
};

const UNLISTED = 'jobs that have not ended are not listed';

async function openJobs(call: ToolCall, sinceMs: number): Promise<Opened> {
  const results = async (why: string): Promise<Opened> => {
    const stored = storedResults(await call.store(), { sinceMs, signal: call.signal });
    return { from: 'results', note: `${why}: ${UNLISTED}`, jobs: jobsIn(stored) };
  };
  try {
    const ledger = await call.ledger();
    if (ledger === undefined) return await results('SYNC_TABLE is not set');
    const rows = ledger.list();
    // A table that cannot be reached says so on the first read.
    const first = await rows.next();
    return { from: 'ledger', jobs: first.done ? jobsOf([], rows) : jobsOf([first.value], rows) };
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const why = shortened(firstLine(error.message), LONGEST_ERROR);
    return await results(`the ledger cannot be read (${why})`);
  }
}

async function* jobsOf(first: readonly JobRow[], rows: AsyncIterable<JobRow>): AsyncGenerator<ShownJob> {
  for (const row of first) yield jobOfRow(row);
  for await (const row of rows) yield jobOfRow(row);
}

async function* jobsIn(results: ReturnType<typeof storedResults>): AsyncGenerator<ShownJob> {
  for await (const { value } of results) if (value !== undefined) yield jobOfResult(value);
}

const LONGEST_ERROR = 400;

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

function jobOfRow({ id, type, state, attempts, startedAt, finishedAt, outcome }: JobRow): ShownJob {
  const times = { startedAt: iso(startedAt), finishedAt: iso(finishedAt) };
  const shown = { id, type: type ?? null, state: state.toLowerCase() as State, attempts };
  return withAdvice({ ...shown, ...times, error: errorIn(outcome?.error) });
}

function errorIn(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { kind, message } = error as { readonly kind?: unknown; readonly message?: unknown };
  return shortened(`${kind}: ${message}`, LONGEST_ERROR);
}

const textIn = (value: unknown): string | null =>
  typeof value === 'string' ? shortened(value, LONGEST_ERROR) : null;

function jobOfResult(value: Readonly<Record<string, unknown>>): ShownJob {
  const { id, type, status, attempts, startedAt, finishedAt, error } = value;
  return withAdvice({
    id: textIn(id) ?? '',
    type: textIn(type),
    state: STATES.find((each) => each === status) ?? 'unknown',
    attempts: typeof attempts === 'number' ? attempts : 0,
    startedAt: textIn(startedAt),
    finishedAt: textIn(finishedAt),
    error: errorIn(error),
  });
}

const withAdvice = (of: Omit<ShownJob, 'whatToDo'>): ShownJob => ({
  ...of,
  whatToDo: of.state === 'failed' || of.state === 'unknown' ? adviceFor(of.id, of.state) : null,
});

type OneJob = Pick<Opened, 'from'> & { readonly one: ShownJob; readonly result: string | undefined };

/** A job by its id, with its stored result. */
async function findOneJob(id: string, call: ToolCall, sinceMs: number): Promise<OneJob | undefined> {
  const store = await call.store();
  const row = await rowOf(id, call);
  if (row !== undefined) {
    const { type, dt, outcome } = row;
    const hasResult = type !== undefined && outcome !== undefined;
    const result = hasResult ? await findResult(store, { id, type, dt }) : undefined;
    return { from: 'ledger', one: jobOfRow(row), result: result?.text };
  }
  for await (const { value, ...stored } of storedResults(store, { sinceMs, signal: call.signal }))
    if (value?.['id'] === id && 'text' in stored)
      return { from: 'results', one: jobOfResult(value), result: stored.text };
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

import * as z from 'zod/mini';
import { adviceFor, findResult, storedResults } from '../../../jobs/index.ts';
import { isPruned, type JobRow } from '../../../jobs/types/index.ts';
import { lowerCase } from '../../../model/rules/index.ts';
import { findRuns, type ListedRun, placesIn } from '../../../snapshot/history/index.ts';
import { createLargest } from '../../collect/records.ts';
import { defineList, described, oneOf, type ToolCall, ToolError, textInput } from '../tool.ts';

/** The statuses in the order in which jobs are listed: statuses that need a user's attention come first. */
const STATUSES = ['unknown', 'failed', 'sent', 'claimed', 'done'] as const;

const DAYS = 'a number of days from 1 to 400';

/** Maximum jobs on all pages together. */
const MAX_JOBS = 5_000;

/** `jobs`: the outcomes of jobs. Jobs that need a user's attention come first. */
export const jobs = defineList({
  title: 'Jobs and their outcomes',
  description:
    'Lists jobs, unknown outcomes first, then failed ones, each with what to do: the platform-sync command for the user to run, and its arguments; counts all by status. Status bad: jobs failed or unknown within the days, and snapshot runs refused, damaged or unfinished since the last published one. With id: also the stored result, as a JSON string. Reads the ledger if SYNC_TABLE is set, otherwise the stored results.',
  input: {
    id: z.optional(textInput('the id of a job, of at most 128 characters', 128)),
    status: z.optional(oneOf([...STATUSES, 'bad'])),
    days: z._default(
      described(
        z.number({ error: DAYS }).check(z.gte(1, { error: DAYS }), z.lte(400, { error: DAYS })),
        'only jobs that ended within this many days; with the ledger, only for status bad',
      ),
      30,
    ),
  },
  list: 'jobs',
  instead: 'run: platform-sync jobs',
  async run({ id, status, days }, { at, max }, call) {
    const counts = { unknown: 0, failed: 0, sent: 0, claimed: 0, done: 0 };
    const first = createLargest<ShownJob>(Math.min(MAX_JOBS, max));
    let result: string | undefined;
    const ledger = await call.ledger();
    const sinceMs = call.now() - days * 24 * 3_600_000;
    const wanted = { id, sinceMs };
    const isWanted = (job: ShownJob) =>
      status === 'bad'
        ? job.whatToDo !== null && !(Date.parse(job.finishedAt ?? '') < sinceMs)
        : job.status === (status ?? job.status);
    for await (const { job, text } of ledger ? jobsOf(ledger, wanted, call) : resultsOf(wanted, call)) {
      call.signal.throwIfAborted();
      counts[job.status] += 1;
      if (isWanted(job)) first.add(rankOf(job), job);
      result = text;
    }
    const items = first.values();
    if (id !== undefined && items.length === 0)
      throw new ToolError(
        `job ${id} is neither in the ledger nor among the results of the last ${days} days`,
      );
    const note = 'SYNC_TABLE is not set: jobs that have not ended are not listed';
    return {
      head: ledger ? { from: 'ledger', counts } : { from: 'results', note, counts },
      items: items.slice(at),
      data: {
        ...(id === undefined ? {} : { result }),
        ...(status === 'bad' && at === 0 ? await badRuns(sinceMs, call) : {}),
      },
    };
  },
});

type Wanted = { readonly id: string | undefined; readonly sinceMs: number };
type Found = { readonly job: ShownJob; readonly text?: string | undefined };
/** The jobs of the ledger; with an id, only that job, with its stored result. */
async function* jobsOf(
  ledger: NonNullable<Awaited<ReturnType<ToolCall['ledger']>>>,
  { id }: Wanted,
  call: ToolCall,
): AsyncGenerator<Found> {
  if (id === undefined)
    for await (const row of ledger.list()) if (!isPruned(row)) yield { job: jobOfRow(row) };
  const row = id === undefined ? undefined : await ledger.read(id);
  if (id === undefined || row === undefined) return;
  const { type, outcome } = row;
  const hasResult = type !== undefined && outcome !== undefined;
  const stored = hasResult ? await findResult(await call.store(), { ...row, type }) : undefined;
  yield { job: jobOfRow(row), text: stored?.text };
}

/** The jobs from the stored results; with an id, only that job. */
async function* resultsOf({ id, sinceMs }: Wanted, { store, signal }: ToolCall): AsyncGenerator<Found> {
  for await (const each of storedResults(await store(), { sinceMs, signal })) {
    if (each.value === undefined || (id !== undefined && each.value['id'] !== id)) continue;
    yield { job: shownJob(each.value), text: each.text };
    if (id !== undefined) return;
  }
}

/** The rank by which jobs are sorted, highest first: by status, then newest first. A time is always below 1e15. */
const rankOf = ({ status, finishedAt, startedAt }: ShownJob): number =>
  (Date.parse(finishedAt ?? startedAt ?? '') || 0) - 1e15 * STATUSES.indexOf(status);

const jobOfRow = ({ outcome, state, ...row }: JobRow) =>
  shownJob({ ...row, status: lowerCase(state), error: outcome?.error });

type ShownJob = ReturnType<typeof shownJob>;

/** A job as the tool returns it, from the ledger or a stored result, whose members may be of any type. */
function shownJob({ id, type, status, attempts, startedAt, finishedAt, error }: Record<string, unknown>) {
  const known = STATUSES.find((each) => each === status) ?? 'unknown';
  const { kind, message } = (error ?? {}) as { readonly kind?: unknown; readonly message?: unknown };
  const name = textIn(id) ?? '';
  return {
    id: name,
    type: textIn(type),
    status: known,
    attempts: typeof attempts === 'number' ? attempts : 0,
    startedAt: textIn(startedAt),
    finishedAt: textIn(finishedAt),
    error: error === undefined || error === null ? null : `${kind}: ${message}`,
    whatToDo: known === 'failed' || known === 'unknown' ? adviceFor(name, known, error) : null,
  };
}

const textIn = (value: unknown): string | null => {
  if (typeof value === 'number') return new Date(value).toISOString();
  return typeof value === 'string' ? value : null;
};

/** Maximum runs of a place to read. */
const MAX_RUNS = 50;

/** The unpublished runs that began since a time, after the last published run of their place. */
async function badRuns(sinceMs: number, { store: open, signal }: ToolCall) {
  const store = await open();
  const runs: object[] = [];
  const faults: string[] = [];
  for (const place of await placesIn(store)) {
    const { listed, broken } = await findRuns({ store, place, all: true, limit: MAX_RUNS, signal });
    faults.push(...broken);
    for (const { run, state, startedAt, refused, fault } of listed) {
      if (state === 'published') break;
      if (Date.parse(startedAt) >= sinceMs && state !== 'superseded')
        runs.push({ place, run, state, startedAt, refused, fault, whatToDo: RUN_ADVICE[state] });
    }
  }
  return { runs, faults };
}

/** What the user can do about a run. Each command takes the place and the run. */
const RUN_ADVICE = {
  refused: {
    say: 'The run published before it stays the last one. Find out why this run was refused; if its content is right, publish it with --force, or else take the snapshot again',
    command: 'publish',
  },
  unfinished: { say: 'Unless it is in progress, resume it with --resume', command: 'snapshot' },
  damaged: { say: 'It cannot be resumed: take the snapshot again', command: 'snapshot' },
} as const satisfies Partial<Record<ListedRun['state'], object>>;

import * as z from 'zod/mini';
import { adviceFor } from '../../../jobs/job-advice.ts';
import type { JobRow } from '../../../jobs/ledger/job-row.ts';
import { findResult, storedResults } from '../../../jobs/results/stored-results.ts';
import { createLargest } from '../../collect/listed.ts';
import { defineList, described, oneOf, type ToolCall, ToolError, textInput } from '../tool.ts';

/** Those first that somebody must look at. */
const STATES = ['unknown', 'failed', 'sent', 'claimed', 'done'] as const;

const DAYS = 'a number of days from 1 to 400';

/** The most jobs that can be paged through. */
const MOST_JOBS = 5_000;

/** `jobs`: how jobs ended, those first that somebody must look at. */
export const jobs = defineList({
  title: 'Jobs and their outcomes',
  description:
    'Lists jobs, those with an unknown outcome first, then failed ones, each with what to do: the command of platform-sync that a person runs, and the job or batch it is given; counts all by state. With id: the stored result of one too, as the text of its JSON. Reads the ledger if SYNC_TABLE is set, otherwise the stored results of the last days.',
  input: {
    id: z.optional(textInput('the id of a job, of at most 128 characters', 128)),
    state: z.optional(oneOf(STATES)),
    days: z._default(
      described(
        z.number({ error: DAYS }).check(z.gte(1, { error: DAYS }), z.lte(400, { error: DAYS })),
        'of the stored results, only those of jobs that ended within so many days',
      ),
      30,
    ),
  },
  list: 'jobs',
  instead: 'run: platform-sync jobs',
  async run({ id, state, days }, { at, most }, call) {
    const counts = { unknown: 0, failed: 0, sent: 0, claimed: 0, done: 0 };
    const first = createLargest<ShownJob>(Math.min(MOST_JOBS, most));
    let result: string | undefined;
    const ledger = await call.ledger();
    const wanted = { id, sinceMs: call.now() - days * 24 * 3_600_000 };
    for await (const { job, text } of ledger ? jobsOf(ledger, wanted, call) : resultsOf(wanted, call)) {
      call.signal.throwIfAborted();
      counts[job.state] += 1;
      if (state === undefined || job.state === state) first.add(rankOf(job), job);
      result = text;
    }
    const items = first.values();
    if (id !== undefined && items.length === 0)
      throw new ToolError(`job ${id}: neither in the ledger nor among the results of ${days} days`);
    const note = 'SYNC_TABLE is not set: jobs that have not ended are not listed';
    return {
      head: ledger ? { from: 'ledger', counts } : { from: 'results', note, counts },
      items: items.slice(at),
      data: id === undefined ? {} : { result },
    };
  },
});

type Wanted = { readonly id: string | undefined; readonly sinceMs: number };
type Found = { readonly job: ShownJob; readonly text?: string | undefined };
type Ledger = NonNullable<Awaited<ReturnType<ToolCall['ledger']>>>;

/** The jobs of the ledger, or one with its stored result. */
async function* jobsOf(ledger: Ledger, { id }: Wanted, call: ToolCall): AsyncGenerator<Found> {
  if (id === undefined) for await (const row of ledger.list()) yield { job: jobOfRow(row) };
  const row = id === undefined ? undefined : await ledger.read(id);
  if (id === undefined || row === undefined) return;
  const { type, outcome } = row;
  const hasResult = type !== undefined && outcome !== undefined;
  const stored = hasResult ? await findResult(await call.store(), { ...row, type }) : undefined;
  yield { job: jobOfRow(row), text: stored?.text };
}

/** The jobs of the stored results, or one of them. */
async function* resultsOf({ id, sinceMs }: Wanted, { store, signal }: ToolCall): AsyncGenerator<Found> {
  for await (const each of storedResults(await store(), { sinceMs, signal })) {
    if (each.value === undefined || (id !== undefined && each.value['id'] !== id)) continue;
    yield { job: shownJob({ state: each.value['status'], ...each.value }), text: each.text };
    if (id !== undefined) return;
  }
}

/** By state, and then by time: no time has so many milliseconds. */
const rankOf = ({ state, finishedAt, startedAt }: ShownJob): number =>
  (Date.parse(finishedAt ?? startedAt ?? '') || 0) - 1e15 * STATES.indexOf(state);

const jobOfRow = ({ outcome, state, ...row }: JobRow) =>
  shownJob({ ...row, state: state.toLowerCase(), error: outcome?.error });

type ShownJob = ReturnType<typeof shownJob>;

/** A job as the ledger or a stored result has it: whatever that holds. */
function shownJob({ id, type, state, attempts, startedAt, finishedAt, error }: Record<string, unknown>) {
  const known = STATES.find((each) => each === state) ?? 'unknown';
  const { kind, message } = (error ?? {}) as { readonly kind?: unknown; readonly message?: unknown };
  const name = textIn(id) ?? '';
  return {
    id: name,
    type: textIn(type),
    state: known,
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

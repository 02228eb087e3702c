import * as z from 'zod/mini';
import { adviceFor } from '../../../jobs/job-advice.ts';
import type { JobRow } from '../../../jobs/ledger/job-row.ts';
import { findResult, storedResults } from '../../../jobs/results/stored-results.ts';
import { createLargest } from '../../collect/listed.ts';
import { createRoom, defineList, withShortTexts } from '../pages.ts';
import { described, oneOf, type ToolCall, ToolError, textInput } from '../tool.ts';

/** Those first that somebody must look at. */
const STATES = ['unknown', 'failed', 'sent', 'claimed', 'done'] as const;

type State = (typeof STATES)[number];

const LONGEST = 400;

const DAYS = 'a number of days from 1 to 400';

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
    const sinceMs = call.now() - days * 24 * 3_600_000;
    if (id === undefined)
      return await listJobs(call, { state, sinceMs, at, most: Math.min(MOST_JOBS, most) });
    const { from, one, result = null } = await findOneJob(id, call, sinceMs);
    if (one === undefined)
      throw new ToolError(`job ${id}: neither in the ledger nor among the results of ${days} days`);
    const head = { from, counts: { ...NONE, [one.state]: 1 } };
    const fits = createRoom({ ...head, data: { jobs: [withShortTexts(one, LONGEST)] } }, 1).couldTake(result);
    return { head, data: { result: fits ? result : null }, items: [one], isCut: !fits };
  },
});

const NONE = { unknown: 0, failed: 0, sent: 0, claimed: 0, done: 0 };

/** The most jobs that can be paged through. */
const MOST_JOBS = 5_000;

type Wanted = Readonly<Record<'sinceMs' | 'at' | 'most', number>> & { readonly state: State | undefined };

/** Counts the jobs of the ledger, or of the results if there is none, and lists the unknown, then the failed ones, newest first. */
async function listJobs(call: ToolCall, { state, sinceMs, at, most }: Wanted) {
  const { signal } = call;
  const ledger = await call.ledger();
  const found = ledger === undefined ? storedResults(await call.store(), { sinceMs, signal }) : ledger.list();
  const counts = { ...NONE };
  const first = createLargest<ShownJob>(most);
  for await (const each of found) {
    signal.throwIfAborted();
    const job = 'value' in each ? jobOfResult(each) : jobOfRow(each);
    if (job === undefined) continue;
    counts[job.state] += 1;
    if (state === undefined || job.state === state) first.add(rankOf(job), job);
  }
  const note = 'SYNC_TABLE is not set: jobs that have not ended are not listed';
  return {
    head: ledger === undefined ? { from: 'results', note, counts } : { from: 'ledger', counts },
    items: first.values().slice(at),
  };
}

/** By state, and then by time: no time has so many milliseconds. */
const rankOf = ({ state, finishedAt, startedAt }: ShownJob): number =>
  (Date.parse(finishedAt ?? startedAt ?? '') || 0) - 1e15 * STATES.indexOf(state);

const jobOfRow = ({ outcome, state, ...row }: JobRow) =>
  shownJob({ ...row, state: state.toLowerCase(), error: outcome?.error });

const jobOfResult = ({ value }: { readonly value?: object | undefined }): ShownJob | undefined =>
  value && shownJob({ state: 'status' in value ? value.status : undefined, ...value });

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
    whatToDo: known === 'failed' || known === 'unknown' ? adviceFor(name, known) : null,
  };
}

type ShownJob = ReturnType<typeof shownJob>;

const textIn = (value: unknown): string | null => {
  if (typeof value === 'number') return new Date(value).toISOString();
  return typeof value === 'string' ? value : null;
};

/** A job by its id, with its stored result. */
async function findOneJob(id: string, call: ToolCall, sinceMs: number) {
  const store = await call.store();
  const row = await (await call.ledger())?.read(id);
  if (row !== undefined) {
    const { type, dt, outcome } = row;
    const hasResult = type !== undefined && outcome !== undefined;
    const result = hasResult ? await findResult(store, { id, type, dt }) : undefined;
    return { from: 'ledger', one: jobOfRow(row), result: result?.text };
  }
  for await (const stored of storedResults(store, { sinceMs, signal: call.signal }))
    if ('text' in stored && stored.value['id'] === id)
      return { from: 'results', one: jobOfResult(stored), result: stored.text };
  return { from: 'results' };
}

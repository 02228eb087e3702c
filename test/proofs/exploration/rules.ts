import {
  type EndedJobRow,
  fromRow,
  hasEnded,
  isCancelled,
  type JobRow,
} from '../../../lib/jobs/ledger/job-row.ts';
import { runsAgain } from '../../../lib/jobs/ledger/transitions.ts';
import type { StoredRow } from '../../../lib/table/table.ts';
import type { Ask } from './asks.ts';
import type { Begun } from './explored-code.ts';
import type { Scenario } from './scenario.ts';
import { messageOf } from './services.ts';
import type { Actor, State } from './state.ts';

/** The rule that is broken; undefined if none is. */
export type Verdict = string | undefined;

const parsed = new WeakMap<StoredRow, JobRow>();

/** A job's row; undefined if the key has no row. */
export function rowAt({ rows }: State, key: string): JobRow | undefined {
  const stored = rows[key];
  if (stored === undefined) return undefined;
  const row = parsed.get(stored) ?? fromRow(stored.row);
  parsed.set(stored, row);
  return row;
}

/** The rows of all jobs. There is one, unless a message without a job id was given a second message id. */
export const rowsIn = (state: State): readonly JobRow[] =>
  Object.keys(state.rows).flatMap((key) => rowAt(state, key) ?? []);

/** How often a job's function ran since the job was created or reopened. */
function executionsOf(id: string, { facts: { executed, reopened } }: State): number {
  const since = reopened.findLast((each) => each.id === id)?.fence ?? 0;
  return executed.filter((each) => each.id === id && each.fence >= since).length;
}

/** Checks what must hold in every state. */
export function checkState(state: State, { job }: Scenario): Verdict {
  const { executed } = state.facts;
  if (job.mayRepeat || executed.length === 0) return undefined;
  const rows = rowsIn(state);
  const executions = rows.reduce((sum, { id }) => sum + executionsOf(id, state), 0);
  if (executions > 1) return `the function ran ${executions} times`;
  const refuted = rows.find(
    ({ id, state: end, outcome }) =>
      end === 'FAILED' && outcome?.error?.kind !== 'execution' && executionsOf(id, state) > 0,
  );
  return refuted && `the job failed (${refuted.outcome?.error?.kind}), and its function ran`;
}

/** A run that writes. `hasLooked`: whether it has looked for an outcome staged by another run; undefined after its end. */
export type Writer = { readonly role: Begun['role']; readonly hasLooked: boolean | undefined };

/** Checks every change of the row under a key. */
export function checkRow(before: State, state: State, key: string, by: Writer, { job }: Scenario): Verdict {
  const [from, to] = [rowAt(before, key), rowAt(state, key)];
  if (to === undefined || from === to) return undefined;
  if (from !== undefined && hasEnded(from)) return checkEnded(from, to, { by: by.role, state });
  const isHeld = from?.leaseUntilMs !== undefined && state.nowMs < from.leaseUntilMs;
  if (isHeld && by.role === 'delivery' && runOf(before, key) !== runOf(state, key))
    return 'a job was taken over while its lease lasted';
  const found = to.outcome?.error?.kind ?? '';
  if (['answer-lost', 'workers-died'].includes(found) && to.state === 'UNKNOWN' && by.hasLooked === false)
    return 'a job was called unknown, and nobody had looked for a staged outcome';
  if (to.state === 'DONE' && executionsOf(to.id, state) === 0)
    return 'a job is done, and its function never ran';
  if (to.state === 'UNKNOWN' && !state.facts.isHidden && job.end !== 'RUNNING')
    return 'a job is unknown, although nothing hid whether its function ran';
  return undefined;
}

/** The run that wrote a row last, which holds the job while its lease lasts. Tokens begin with the name of the run. */
const runOf = ({ rows }: State, key: string) => rows[key]?.token.split(' ', 1)[0];

/** Checks that an ended job stays ended unless UNKNOWN. Only a failed job may be reopened, a cancelled one only by its id. */
function checkEnded(
  from: EndedJobRow,
  to: JobRow,
  { by, state }: { readonly by: Begun['role']; readonly state: State },
): Verdict {
  if (hasEnded(to)) {
    const stays = from.state === to.state && from.outcome.error?.kind === to.outcome.error?.kind;
    const isKnownNow = to.state === 'DONE' || (runsAgain(to) && isProvedUnsent(state));
    return stays || (from.state === 'UNKNOWN' && isKnownNow)
      ? undefined
      : `a job was ${from.state}, and then ${to.state}`;
  }
  if (from.state !== 'FAILED') return `a job that was ${from.state} was reopened`;
  if (by === 'delivery' && !runsAgain(from)) return 'a failed job was reopened, and nobody asked';
  return isCancelled(from) && by !== 'redrive by id'
    ? 'a cancelled job was reopened, and nobody named it'
    : undefined;
}

/** Checks every object that is written: a job has one result, and its outcome changes only as the row's may. */
export function checkObject(before: State, after: State, ask: Ask<'write an object'>): Verdict {
  if (!ask.key.startsWith('results/')) return undefined;
  const results = resultsIn(after).length;
  if (results > 1) return `the job has ${results} results`;
  const body = before.objects[ask.key];
  if (body === undefined) return undefined;
  const [from, to] = [statusIn(body), statusIn(after.objects[ask.key] ?? body)];
  const mayChange =
    from === 'failed'
      ? after.facts.reopened.length > 0
      : from === 'unknown' && (to === 'done' || isProvedUnsent(after));
  return from === to || mayChange ? undefined : `the result was ${from}, and then ${to}`;
}

/** Checks every message that is deleted: its job's result is visible, or another message replaces it. */
export function checkDeleted(state: State, { receipt }: Ask<'delete the message'>): Verdict {
  const { queue, objects } = state;
  const message = queue.messages.find(({ messageId }) => messageId === messageOf(receipt));
  if (message === undefined || resultsIn({ objects }).length > 0) return undefined;
  const others = queue.messages.filter((each) => each !== message);
  const isReplaced = (!isNamed(message) || isStaged(state)) && others.some(isNamed);
  return isReplaced ? undefined : 'a message was deleted before the result of its job was visible';
}

const isNamed = ({ body }: { readonly body: string }) => body.includes('"id":');

/** Checks a request when it waits for its slot and when it leaves: the ledger must say SENT under the claim of its sender. */
export function checkLeaving(
  state: State,
  { kind, id, fence }: Ask<'take a slot' | 'call the platform'>,
  { worker, job }: Scenario,
): Verdict {
  const row = rowsIn(state).find((each) => each.id === id);
  // A process that is paused in its slot may lose a repeatable job, but the row still records that it sent.
  const isPast = job.mayRepeat && row?.sentFence !== undefined && row.sentFence >= fence;
  if (kind === 'call the platform' && worker === 'process' && isPast) return undefined;
  if (row?.state !== 'SENT' || row.sentFence !== fence)
    return 'a request left that the ledger does not know of';
  return (row.leaseUntilMs ?? 0) > state.nowMs ? undefined : 'a request left after its lease';
}

/** Checks every message that is requeued: it must not wait for a lease that the run itself holds. */
export function checkDelay(state: State, { delayMs }: Ask<'delay the message'>, run: string): Verdict {
  const { nowMs } = state;
  const isOwn = Object.keys(state.rows).some((key) => {
    const untilMs = rowAt(state, key)?.leaseUntilMs ?? 0;
    return untilMs > nowMs && nowMs + delayMs >= untilMs && runOf(state, key) === run;
  });
  return isOwn ? 'a message waits for the end of its own lease' : undefined;
}

/** Checks a run after each reply: it waits for another reply, or has ended correctly. */
export function checkRun(state: State, actor: Actor, scenario: Scenario): Verdict {
  const { start, underWay, end } = actor.history;
  if (end === undefined)
    return underWay.length === 0 ? 'a run waits for something that never comes' : undefined;
  if (start.role === 'delivery' && end.kind === 'threw') return `a delivery threw ${end.error}`;
  return checkHeard(state, actor, scenario);
}

/** Checks a delivery that was not killed: the response that it got is recorded. */
function checkHeard(state: State, { history, diesAtMs }: Actor, { job }: Scenario): Verdict {
  // A repeatable job is repeated by the run that has taken it over.
  if (!history.hasHeard || job.end !== 'SUCCESS' || job.mayRepeat) return undefined;
  if (rowsIn(state).some((row) => row.state === 'DONE')) return undefined;
  const isOutOfTime = state.nowMs >= diesAtMs - LAST_WRITE_MS;
  return isOutOfTime || (isStaged(state) && state.queue.messages.length > 0)
    ? undefined
    : 'a worker had the response, and it was lost';
}

/** An invocation stops trying to record a response this long before its time limit. */
const LAST_WRITE_MS = 1_000;

/** Checks a state in which nothing is left to do: the job has ended, and its result, its row and the report agree. */
export function checkRest(state: State, scenario: Scenario): Verdict {
  // A row that was announced but never claimed is not a job yet.
  const rows = rowsIn(state).filter((row) => hasEnded(row) || row.fence > 0);
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) return `one message, and ${rows.length} jobs`;
  if (!hasEnded(row)) return `nothing is left to do, and the job is ${row.state}`;
  const { left, dead } = state.facts;
  if (row.state === 'UNKNOWN' && ![...left, ...dead].includes(row.sentFence ?? 0))
    return 'a job is unknown, although nothing left, and the worker that knows it lived';
  const isRefused = row.outcome.error?.kind === 'status';
  if (scenario.people.length === 0 && !state.facts.isHidden && row.state !== 'DONE' && !isRefused)
    return `a job was given up as ${row.state}, although nothing hid whether its function ran`;
  const [key] = resultsIn(state);
  // For a job that was cancelled before its first delivery, no worker can write the result.
  if (key === undefined)
    return row.type === undefined ? undefined : `the job is ${row.state}, and has no result`;
  const { outcome, attempts, finishedAt } = row;
  const result = JSON.parse(state.objects[key] ?? '');
  const shown = [result.status, result.attempts, Date.parse(result.finishedAt)];
  const known = [outcome.status, attempts, finishedAt];
  if (String(shown) !== String(known)) return `the result shows ${shown}, and the ledger has ${known}`;
  return state.facts.reported.includes(outcome.status)
    ? undefined
    : `nobody reported that the job is ${outcome.status}`;
}

/** Whether a worker, after its job was declared unknown, has staged the proof that no request left. */
const isProvedUnsent = ({ objects }: Pick<State, 'objects'>): boolean =>
  Object.values(objects).some((body) => body.includes('"kind":"never-sent"'));

const isStaged = ({ objects }: State) => Object.keys(objects).some((key) => key.startsWith('work/outcomes/'));

const resultsIn = ({ objects }: Pick<State, 'objects'>) =>
  Object.keys(objects).filter((key) => key.startsWith('results/'));

const statusIn = (body: string): string => JSON.parse(body).status;

import * as z from 'zod/mini';
import { type JobPlan, mayRepeat } from '../../job-plan.ts';
import type { Scene } from '../scene.ts';
import type { Spell } from '../spells.ts';
import type { Finished } from './promises.ts';

/** The checked members of a job's row. The outcome is a JSON string. */
const rowSchema = z.object({ state: z.string(), attempts: z.number(), outcome: z.optional(z.string()) });
const outcomeSchema = z.object({
  status: z.enum(['done', 'failed', 'unknown']),
  error: z.optional(z.object({ kind: z.string(), message: z.string() })),
});

async function rowOf(id: string, { table }: Scene) {
  const stored = await table.rows.get({ partition: `job#${id}`, sort: '-' });
  if (stored === undefined) return undefined;
  const { outcome, ...row } = rowSchema.parse(stored.row);
  return { ...row, outcome: outcome === undefined ? undefined : outcomeSchema.parse(JSON.parse(outcome)) };
}

/** The keys of a folder, by their last path segment. */
export async function keysByName(
  prefix: string,
  { store }: Scene,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const keys = await Array.fromAsync(store.list(prefix), ({ key }) => key);
  return Map.groupBy(keys, (key) => key.slice(key.lastIndexOf('/') + 1));
}

type EndedRow = {
  readonly state: string;
  readonly attempts: number;
  readonly outcome: z.infer<typeof outcomeSchema>;
};

const resultSchema = z.object({ status: z.enum(['done', 'failed', 'unknown']), attempts: z.number() });

/** **No send is repeated blindly**, and every job ends in one visible result that says what the platform knows. */
export async function checkJobs(ended: Finished) {
  const { plan, scene, sent, recovery, broken } = ended;
  const counts = { jobs: 0, done: 0, failed: 0, unknown: 0 };
  const keys = await keysByName('results/', scene);
  const checkEnd = async (id: string): Promise<EndedRow | undefined> => {
    counts.jobs += 1;
    const found = await rowOf(id, scene);
    if (found?.outcome === undefined) {
      broken(`It recovers by itself: ${id} did not end, it is ${found?.state ?? 'not known'}`);
      return undefined;
    }
    const row = { ...found, outcome: found.outcome };
    counts[row.outcome.status] += 1;
    const own = keys.get(`${id}.json`) ?? [];
    if (own.length !== 1) {
      broken(`Every job ends in one visible result: ${id} has ${own.length}`);
      return row;
    }
    const result = resultSchema.parse(JSON.parse(String((await scene.store.get(own[0] ?? ''))?.body)));
    // A late response may change a job from unknown to done after its message was deleted, and the worker may die
    // before it updates the result.
    const isLate = row.outcome.status === 'done' && ended.finished.get(id)?.has('unknown') === true;
    if ((result.status !== row.outcome.status || result.attempts !== row.attempts) && !isLate)
      broken(
        `Every job ends in one visible result: that of ${id} shows ${result.status} after ${result.attempts} attempts, the ledger ${row.outcome.status} after ${row.attempts}`,
      );
    if (!ended.finished.get(id)?.has(row.outcome.status) && !isLate)
      broken(`It was not reported that ${id} ended ${row.outcome.status}`);
    return row;
  };
  for (const [index, { job }] of plan.jobs.entries()) {
    const id = sent.ids.get(index + 1);
    const row = id === undefined ? undefined : await checkEnd(id);
    if (id !== undefined) checkSends({ id, job, number: index + 1, row }, ended);
  }
  for (const id of recovery.ids()) {
    const row = await checkEnd(id);
    if (row !== undefined && row.state !== 'DONE')
      broken(
        `It recovers by itself: ${id} ended ${row.state} although everything was calm: ${row.outcome.error?.message}`,
      );
  }
  for (const [index] of plan.snapshotsAtMs.entries()) await checkEnd(`snapshot-${index + 1}`);
  return counts;
}

type Checked = {
  readonly id: string;
  readonly job: JobPlan;
  readonly number: number;
  readonly row: EndedRow | undefined;
};

/** Maximum number of sends of a repeatable job. */
const MAX_ATTEMPTS = 5;

/** True for a spell in which only some calls fail: a failing job is then no outage, since a harmless read succeeds. */
const isPartial = (spell: Spell) =>
  spell.border === 'platform' && spell.fate === '503' && spell.percent < 100;

/** Checks that a job that may not be repeated is executed once, and once more each time it is reopened. */
function checkSends({ id, job, number, row }: Checked, { plan, scene, sent, broken }: Finished): void {
  if (job.type !== 'run-function' && job.type !== 'update-formula') return;
  const { platform } = scene;
  const subject = `subject-${number}`;
  const own = platform.executionsOf(subject);
  const reopened = sent.reopened.get(id) ?? [];
  const most = 1 + reopened.length;
  if (!mayRepeat(job) && own.length > most)
    broken(`No send is repeated blindly: ${id} was executed ${own.length} times`);
  if (row === undefined) return;
  const { status, error } = row.outcome;
  const end = job.type === 'run-function' ? job.end : 'SUCCESS';
  const wrong = (why: string) =>
    broken(
      `A result says what the platform knows: ${id} ended ${status} (${error?.kind}: ${error?.message}), but ${why}`,
    );
  const isNamed = error?.kind === 'execution' || error?.kind === 'running';
  if ((status === 'done' || isNamed) && own.length === 0) wrong('nothing was executed');
  if (status === 'done' && end !== 'SUCCESS') wrong(`its function ended ${end}`);
  if (isNamed && (error?.kind === 'running' ? 'RUNNING' : 'FAILED') !== end)
    wrong(`its function ended ${end}`);
  if (status === 'failed' && error?.kind === 'cancelled' && !sent.cancelled.has(id))
    wrong('nobody cancelled it');
  const isTriedOut = error?.kind === 'status' && row.attempts >= MAX_ATTEMPTS && plan.spells.some(isPartial);
  const mayBeGivenUp = isTriedOut && mayRepeat(job);
  if (status === 'failed' && !isNamed && error?.kind !== 'cancelled' && !mayBeGivenUp)
    wrong('nothing may be given up for an outage');
  if (status === 'failed' && !isNamed && own.length > 0 && most === 1 && !mayRepeat(job))
    wrong('it was executed');
  // An execution before the job was reopened does not determine how it ended afterwards.
  const last = own.findLast(({ atMs }) => atMs > (reopened.at(-1) ?? 0));
  const isSound = last?.isKnown === true && last.process.troubles === last.troublesBefore;
  if (status === 'unknown' && !isNamed && isSound && !platform.doubtful.has(subject))
    wrong('its response reached a process that had no trouble');
}

import type { Sandbox } from '../../../lib/sandbox/platform/start-platform.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { Delivered } from '../services/start-bus.ts';
import type { WholeJob } from './jobs.ts';

type Result = { readonly id: string; readonly status: 'done' | 'failed' | 'unknown' };

export async function readResults(store: Store): Promise<readonly Result[]> {
  const results: Result[] = [];
  for await (const { key } of store.list('results/'))
    results.push(JSON.parse((await store.get(key))?.body.toString() ?? 'null'));
  return results;
}

export type Happened = {
  readonly platform: Sandbox;
  readonly jobs: readonly WholeJob[];
  readonly results: readonly Result[];
  readonly events: readonly Delivered[];
};

/** What is printed and asserted. */
export function figuresOf({ platform, jobs, results, events }: Happened) {
  const { executions, sentimentCalls } = platform.counts();
  const times = timesDone(platform, jobs);
  const ended = (status: Result['status']) =>
    new Set(results.filter((result) => result.status === status).map(({ id }) => id));
  const [done, unknown] = [ended('done'), ended('unknown')];
  const timesOf = ({ id }: WholeJob) => times.get(id) ?? 0;
  const onlyOnce = jobs.filter(({ type }) => type === 'run-function' || type === 'update-formula');
  return {
    jobs: jobs.length,
    results: results.length,
    done: done.size,
    unknown: unknown.size,
    /** Those of them that the platform has done all the same. */
    unknownDone: onlyOnce.filter((job) => unknown.has(job.id) && timesOf(job) > 0).length,
    executions: executions.length,
    /** Functions run and formulas set twice. */
    doubles: onlyOnce.filter((job) => timesOf(job) > 1).length,
    /** Jobs that are done, though the platform has not done them. */
    neverDone: onlyOnce.filter((job) => done.has(job.id) && timesOf(job) === 0).length,
    textsPaidTwice: Object.values(sentimentCalls).filter((calls) => calls > 1).length,
    /** Jobs of which at least one event came. */
    events: new Set(events.map(({ detail }) => detail['id'])).size,
  };
}

/** How often the platform did what must not be done twice, by the id of the job. */
function timesDone(platform: Sandbox, jobs: readonly WholeJob[]): ReadonlyMap<string, number> {
  const { executions, formulaUpdates } = platform.counts();
  const times = new Map<string, number>();
  for (const { inputVariables } of executions) {
    const id = `job-${(inputVariables as { readonly first: number }).first}`;
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  for (const job of jobs)
    if ('calculationId' in job) times.set(job.id, formulaUpdates[`${job.calculationId}`] ?? 0);
  return times;
}

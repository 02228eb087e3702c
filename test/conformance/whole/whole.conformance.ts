import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openQueue } from '../../../lib/jobs/queue/open-queue.ts';
import { type Sandbox, startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { startTestAws } from '../../base/aws/start-test-aws.ts';
import { runCommand } from '../../cli/run-command.ts';
import { type MixedJob, mixedJobs } from '../../jobs/mixed-jobs.ts';
import { createSecret } from '../services/create-secret.ts';
import { type Delivered, startBus } from '../services/start-bus.ts';

/*
 * Checks the promises of jobs on third-party engines for store, table, queue, secret and events. The workers are
 * processes of `platform-sync work --drain` with their own leases and polls; no function is deployed, so no role of the
 * template is checked. One worker is killed with SIGKILL halfway and replaced. The reference platform counts what was
 * executed.
 */

const JOBS = 2_000;
/** The number of jobs that are sent to the queue twice. */
const REPEATED = 350;
/** The number of files in which jobs are submitted, each followed by its repeated jobs. */
const FILES = 10;
/** The concurrency of one worker, for jobs and for requests. */
const CONCURRENCY = 20;

type Environment = Readonly<Record<string, string>>;
type Bus = Awaited<ReturnType<typeof startBus>>;

async function submit(jobs: readonly MixedJob[], environment: Environment): Promise<void> {
  const input = jobs.map((job) => `${JSON.stringify(job)}\n`).join('');
  const { code, err } = await runCommand(['submit', '-', '--no-undo'], environment, input);
  if (code !== 0) throw new Error(`submit: ${err}`);
}

async function submitAll(jobs: readonly MixedJob[], environment: Environment): Promise<void> {
  for (let file = 0; file < FILES; file += 1) {
    const some = jobs.slice((file * JOBS) / FILES, ((file + 1) * JOBS) / FILES);
    await submit(some, environment);
    await submit(some.slice(0, REPEATED / FILES), environment);
  }
}

/** Starts `platform-sync work --drain` in a new process, without this process's environment. */
function startWorker(environment: Environment) {
  const command = ['lib/cli/bin.js', 'work', '--drain', '--json', '--concurrency', `${CONCURRENCY}`];
  const child = spawn(process.execPath, command, {
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const kill = () => void child.kill('SIGKILL');
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return { kill, isRunning, ended: once(child, 'exit'), [Symbol.dispose]: kill };
}

/** Runs two workers until the queue is empty. One is killed and replaced once `isMiddle` returns true. */
async function workAndKill(environment: Environment, isMiddle: () => boolean): Promise<void> {
  using killed = startWorker(environment);
  using other = startWorker(environment);
  while (!isMiddle() && killed.isRunning()) await delay(10);
  killed.kill();
  using replacement = startWorker(environment);
  expect(await killed.ended).toEqual([null, 'SIGKILL']);
  for (const [, signal] of [await other.ended, await replacement.ended]) expect(signal).toBeNull();
}

/** Receives the events of the bus until `over` settles, not only at the end, since moto is slow with thousands of messages. */
async function eventsUntil(over: Promise<unknown>, { delivered }: Bus): Promise<readonly Delivered[]> {
  const events: Delivered[] = [];
  const ended = new AbortController();
  async function read(): Promise<void> {
    while (!ended.signal.aborted) {
      events.push(...(await delivered()));
      await delay(500);
    }
  }
  await Promise.all([over.finally(() => ended.abort()), read()]);
  return [...events, ...(await delivered())];
}

type Result = { readonly id: string; readonly status: 'done' | 'failed' | 'unknown' };

async function readResults(store: Store): Promise<readonly Result[]> {
  const results: Result[] = [];
  for await (const { key } of store.list('results/'))
    results.push(JSON.parse((await store.get(key))?.body.toString() ?? 'null'));
  return results;
}

type Happened = { readonly results: readonly Result[]; readonly events: readonly Delivered[] };

/** The figures that are printed and asserted. */
function figuresOf(jobs: readonly MixedJob[], platform: Sandbox, { results, events }: Happened) {
  const { executions, sentimentCalls } = platform.counts();
  const times = timesDone(platform, jobs);
  const ended = (status: Result['status']) =>
    new Set(results.filter((result) => result.status === status).map(({ id }) => id));
  const [done, unknown] = [ended('done'), ended('unknown')];
  const timesOf = ({ id }: MixedJob) => times.get(id) ?? 0;
  const onlyOnce = jobs.filter(({ type }) => type === 'run-function' || type === 'update-formula');
  return {
    jobs: jobs.length,
    results: results.length,
    done: done.size,
    unknown: unknown.size,
    /** Unknown jobs that the platform executed. */
    unknownDone: onlyOnce.filter((job) => unknown.has(job.id) && timesOf(job) > 0).length,
    executions: executions.length,
    /** The number of functions that ran twice and formulas that were set twice. */
    doubles: onlyOnce.filter((job) => timesOf(job) > 1).length,
    /** Jobs with the outcome done that the platform did not execute. */
    neverDone: onlyOnce.filter((job) => done.has(job.id) && timesOf(job) === 0).length,
    textsPaidTwice: Object.values(sentimentCalls).filter((calls) => calls > 1).length,
    /** The number of jobs with at least one event. */
    events: new Set(events.map(({ detail }) => detail['id'])).size,
  };
}

/** How often the platform executed each job that must not be repeated, by the id of the job. */
function timesDone(platform: Sandbox, jobs: readonly MixedJob[]): ReadonlyMap<string, number> {
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

test(`each of ${JOBS} jobs has one result, and none is done twice, though a worker is killed and ${REPEATED} are sent twice`, {
  timeout: 900_000,
}, async () => {
  await using platform = await startPlatform({
    calculations: JOBS / 10,
    dataFiles: 20,
    rate: 10_000,
    // Slow responses, so that some requests are in flight at any time.
    latencyMs: 50,
  });
  await using aws = await startTestAws({ buckets: ['jobs'], queues: [{ name: 'jobs' }], tables: ['ledger'] });
  using bus = await startBus({ source: ['platform-sync'], 'detail-type': ['JobFinished'] });
  const environment = {
    ...aws.settings,
    ...bus.settings,
    ...(await createSecret(platform.token)).settings,
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_RATE: '2000',
    PLATFORM_CONCURRENCY: `${CONCURRENCY}`,
    SYNC_STORE: `s3://${aws.bucket('jobs')}`,
    SYNC_TABLE: 'ledger',
    SYNC_QUEUE_URL: aws.queueUrl('jobs'),
  };
  const jobs = mixedJobs(JOBS, platform);
  const startedAt = performance.now();

  await submitAll(jobs, environment);
  const isMiddle = () => platform.counts().executions.length > JOBS * 0.3;
  const events = await eventsUntil(workAndKill(environment, isMiddle), bus);

  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const results = await readResults(await openStore(environment.SYNC_STORE, { s3: environment }));
  const figures = figuresOf(jobs, platform, { results, events });
  console.log(`whole: ${JSON.stringify({ ...figures, repeated: REPEATED, seconds })}`);
  expect(figures).toMatchObject({ results: JOBS, doubles: 0, neverDone: 0, events: JOBS });
  expect(new Set(results.map(({ id }) => id)).size).toBe(JOBS);
  // Only what the killed worker had in flight may be unknown, or paid for again.
  expect(figures.done + figures.unknown).toBe(JOBS);
  expect(figures.unknown).toBeLessThanOrEqual(CONCURRENCY);
  expect(figures.textsPaidTwice).toBeLessThanOrEqual(CONCURRENCY);
  const nothing = { waiting: 0, inFlight: 0, delayed: 0 };
  expect(await (await openQueue(environment.SYNC_QUEUE_URL, environment)).counts()).toEqual(nothing);
});

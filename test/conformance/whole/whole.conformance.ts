import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../../lib/cli/command-line.ts';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../../lib/store/open.ts';
import { startTestAws } from '../../base/aws/start-test-aws.ts';
import { createFakeTerminal } from '../../cli/fake-terminal.ts';
import { createSecret } from '../services/create-secret.ts';
import { type Delivered, startBus } from '../services/start-bus.ts';
import { figuresOf, readResults } from './figures.ts';
import { mixedJobs, type WholeJob } from './jobs.ts';
import { CONCURRENCY, startWorker } from './worker.ts';

/*
 * The promises of jobs with nothing of ours but the program itself: store, table, queue, secret and events are on
 * engines that others wrote, and the workers are processes of `platform-sync work --drain`, with its own leases and
 * polls. One of them is killed with -9 in the middle of its jobs, and replaced. The reference platform counts what was
 * done.
 */

const JOBS = 2_000;
/** How many of them are put on the queue twice. */
const REPEATED = 350;
/** The jobs are submitted in so many files, each followed by those of it that are repeated. */
const FILES = 10;

type Environment = Readonly<Record<string, string>>;
type Bus = Awaited<ReturnType<typeof startBus>>;

async function submit(jobs: readonly WholeJob[], environment: Environment): Promise<void> {
  const input = jobs.map((job) => `${JSON.stringify(job)}\n`).join('');
  const { terminal, err } = createFakeTerminal(environment, input);
  if ((await runCommandLine(['submit', '-'], terminal)) !== 0) throw new Error(`submit: ${err()}`);
}

async function submitAll(jobs: readonly WholeJob[], environment: Environment): Promise<void> {
  for (let file = 0; file < FILES; file += 1) {
    const some = jobs.slice((file * JOBS) / FILES, ((file + 1) * JOBS) / FILES);
    await submit(some, environment);
    await submit(some.slice(0, REPEATED / FILES), environment);
  }
}

/** Two workers, of which one is killed once `isMiddle`, and replaced; until the queue is empty. */
async function workAndKill(environment: Environment, isMiddle: () => boolean): Promise<void> {
  using killed = startWorker(environment);
  using other = startWorker(environment);
  while (!isMiddle() && killed.isRunning()) await delay(10);
  killed.kill();
  using replacement = startWorker(environment);
  expect(await killed.ended).toEqual([null, 'SIGKILL']);
  for (const [, signal] of [await other.ended, await replacement.ended]) expect(signal).toBeNull();
}

/** The events of the bus until something is over: moto is slow with a queue of thousands. */
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

async function countMessages(queueUrl: string, environment: Environment) {
  const client = createSqsClient(queueUrl, environment);
  try {
    return await createSqsQueue(queueUrl, client).counts();
  } finally {
    client.destroy();
  }
}

test(`of ${JOBS} jobs each has one result, and none is done twice, though a worker is killed and ${REPEATED} are sent twice`, {
  timeout: 900_000,
}, async () => {
  await using platform = await startPlatform({
    calculations: JOBS / 10,
    dataFiles: 20,
    rate: 10_000,
    // So that some requests are in flight at any time.
    latencyMs: 50,
  });
  await using aws = await startTestAws({ buckets: ['jobs'], queues: [{ name: 'jobs' }], tables: ['ledger'] });
  using bus = await startBus({ source: ['platform-sync'], 'detail-type': ['JobFinished'] });
  const environment = {
    ...aws.settings,
    ...bus.settings,
    ...(await createSecret({ SecretString: platform.token })).settings,
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
  const figures = figuresOf({ platform, jobs, results, events });
  console.log(`whole: ${JSON.stringify({ ...figures, repeated: REPEATED, seconds })}`);
  expect(figures).toMatchObject({ results: JOBS, doubles: 0, neverDone: 0, events: JOBS });
  expect(new Set(results.map(({ id }) => id)).size).toBe(JOBS);
  // Only what the killed worker had in flight may be unknown, or paid for again.
  expect(figures.done + figures.unknown).toBe(JOBS);
  expect(figures.unknown).toBeLessThanOrEqual(CONCURRENCY);
  expect(figures.textsPaidTwice).toBeLessThanOrEqual(CONCURRENCY);
  const nothing = { waiting: 0, inFlight: 0, delayed: 0 };
  expect(await countMessages(environment.SYNC_QUEUE_URL, environment)).toEqual(nothing);
});

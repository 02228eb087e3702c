import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Terminal } from '../../lib/cli/terminal/terminal.ts';
import { LEASES } from '../../lib/jobs/job-storage.ts';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import { withDefaultLocations } from '../../lib/locations.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openTable } from '../../lib/table/open-table.ts';

import { enginesOf } from '../base/aws/engines.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { OLDEST_COUNTS_MS } from '../local-aws/documented/sqs/counts-lag.ts';
import { beginCommand } from './run-command.ts';

/**
 * The reference platform, a store in a directory, queues and a table in it, and commands that run against them.
 * `isInAws`: queues and table are in the local AWS instead, or in the engine that the conformance tests name.
 */
export async function startJobs({
  latencyMs = 0,
  isInAws = enginesOf(process.env).sqs !== undefined,
  maxReceives = 1_000,
}: {
  readonly latencyMs?: number;
  readonly isInAws?: boolean;
  /** How often the queue in AWS delivers a message before it becomes a dead letter. */
  readonly maxReceives?: number;
} = {}) {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'jobs-'));
  started.defer(() => rm(folder, { recursive: true }));
  const small = { calculations: 20, datasets: 2, cards: 0, fileSets: 0, dataFiles: 5 };
  const sandbox = started.use(await startPlatform({ ...small, latencyMs }));
  const shared: Readonly<Record<string, string>> = {
    SYNC_STORE: folder,
    LOG_LEVEL: 'silent',
    ...(isInAws ? await placesInAws(started, maxReceives) : {}),
  };
  const settings: Readonly<Record<string, string>> = {
    ...shared,
    PLATFORM_BASE_URL: sandbox.url,
    PLATFORM_TOKEN: sandbox.token,
    PLATFORM_RATE: '1000',
  };
  const { SYNC_TABLE = '', SYNC_QUEUE_URL = '', SYNC_DEAD_LETTER_URL = '' } = withDefaultLocations(shared);
  const queue = await openQueue(SYNC_QUEUE_URL, shared);
  const deadLetters = await openQueue(SYNC_DEAD_LETTER_URL, shared, 'dead');
  const { table } = await openTable(SYNC_TABLE, shared, { leases: LEASES });
  const begin = (
    argv: readonly string[],
    environment: Readonly<Record<string, string>>,
    input?: string,
    screen?: Terminal['screen'],
  ) => beginCommand(argv, environment, { input, screen });
  const running = started.move();
  return {
    folder,
    sandbox,
    settings,
    /** All settings except the platform's. */
    shared,
    table,
    begin,
    run: (argv: readonly string[], input = '') => begin(argv, settings, input).ended,
    runWithoutPlatform: (argv: readonly string[]) => begin(argv, shared).ended,
    /** Submits jobs, and runs a worker until the queue is empty. */
    async workOff(...jobs: readonly object[]) {
      await begin(['submit', '-', '--no-undo'], settings, lines(jobs)).ended;
      return begin(['work', '--drain', '--json'], settings).ended;
    },
    queue,
    deadLetters,
    /** The ledger with another clock. */
    ledgerAt: (now: () => number = Date.now) => createLedger({ table, now }),
    /** The counts of a queue. In AWS they lag, so this waits until they are up to date. */
    async countsOf(of: typeof queue) {
      if (isInAws) await delay(OLDEST_COUNTS_MS);
      return of.counts();
    },
    readJson: async (key: string) => JSON.parse(await readFile(join(folder, key), 'utf8')),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function placesInAws(started: AsyncDisposableStack, maxReceiveCount: number) {
  const jobs = { name: 'jobs', deadLetter: { queue: 'dead', maxReceiveCount } };
  const aws = await startTestAws({ queues: [{ name: 'dead' }, jobs], tables: ['ledger'] });
  started.defer(aws.close);
  return {
    SYNC_TABLE: 'ledger',
    SYNC_QUEUE_URL: aws.queueUrl('jobs'),
    SYNC_DEAD_LETTER_URL: aws.queueUrl('dead'),
    ...aws.settings,
  };
}

export const lines = (jobs: readonly object[]): string =>
  jobs.map((job) => `${JSON.stringify({ version: 1, ...job })}\n`).join('');

/** A job that runs a function of the reference platform. */
export const call = (id: string, functionName: string, inputVariables: object) => ({
  type: 'run-function',
  id,
  packageId: codePackages[functionName === 'addNumbers' ? 0 : 1]?.id,
  packageVersion: '1.0.0',
  functionName,
  inputVariables,
});

/** `adds`: a job that succeeds. `throws`: one that fails. */
export const adds = (id: string, first: unknown = 40) => call(id, 'addNumbers', { first, second: 2 });
export const throws = (id: string) => call(id, 'throwsError', { message: 'no luck' });

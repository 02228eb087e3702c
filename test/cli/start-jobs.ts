import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import type { Terminal } from '../../lib/cli/terminal/terminal.ts';
import type { Queue, QueueCounts } from '../../lib/jobs/queue/queue.ts';
import { createSqsClient, createSqsQueue } from '../../lib/jobs/queue/sqs-queue.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { OLDEST_COUNTS_MS } from '../local-aws/documented/sqs/counts-lag.ts';
import { checkedShape } from './checked-shape.ts';
import { createFakeTerminal } from './fake-terminal.ts';

/** The reference platform, queues, a table and a directory store, and commands that run against them. */
export async function startJobs({ latencyMs = 0 }: { readonly latencyMs?: number } = {}) {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'jobs-'));
  started.defer(() => rm(folder, { recursive: true }));
  const sandbox = await startPlatform({
    calculations: 20,
    datasets: 2,
    cards: 0,
    fileSets: 0,
    dataFiles: 5,
    latencyMs,
  });
  started.defer(sandbox.close);
  const aws = await startTestAws({ queues: [{ name: 'jobs' }, { name: 'dead' }], tables: ['ledger'] });
  started.defer(aws.close);
  const shared = {
    SYNC_STORE: folder,
    SYNC_TABLE: 'ledger',
    SYNC_QUEUE_URL: aws.queueUrl('jobs'),
    SYNC_DEAD_LETTER_URL: aws.queueUrl('dead'),
    LOG_LEVEL: 'silent',
    ...aws.settings,
  };
  const settings = {
    ...shared,
    PLATFORM_BASE_URL: sandbox.url,
    PLATFORM_TOKEN: sandbox.token,
    PLATFORM_RATE: '1000',
  };
  const begin = (
    argv: readonly string[],
    environment: Readonly<Record<string, string>>,
    input = '',
    screen?: Terminal['screen'],
  ) => {
    const { terminal, out, err, interrupt } = createFakeTerminal(environment, input, screen);
    const ended = runCommandLine(argv, terminal).then((code) =>
      checkedShape(argv, { code, out: out(), err: err() }),
    );
    return { ended, interrupt };
  };
  const client = createSqsClient(aws.queueUrl('jobs'), aws.settings);
  const running = started.move();
  return {
    folder,
    sandbox,
    settings,
    /** All settings except the platform's. */
    shared,
    begin,
    run: (argv: readonly string[], input = '') => begin(argv, settings, input).ended,
    runWithoutPlatform: (argv: readonly string[]) => begin(argv, shared).ended,
    queue: createSqsQueue(aws.queueUrl('jobs'), client),
    deadLetters: createSqsQueue(aws.queueUrl('dead'), client),
    readJson: async (key: string) => JSON.parse(await readFile(join(folder, key), 'utf8')),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** What a queue holds, once its counts are no longer late. */
export async function countsOf(queue: Pick<Queue, 'counts'>): Promise<QueueCounts> {
  await delay(OLDEST_COUNTS_MS);
  return queue.counts();
}

export const lines = (jobs: readonly object[]): string =>
  jobs.map((job) => `${JSON.stringify({ version: 1, ...job })}\n`).join('');

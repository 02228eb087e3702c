import { type DurableLambdaHandler, withDurableExecution } from '@aws/durable-execution-sdk-js';
import { LocalDurableTestRunner } from '@aws/durable-execution-sdk-js-testing';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { durableSteps } from '../../functions/snapshot/durable-steps.ts';
import { parseExecutionInput } from '../../lib/jobs/types/snapshot/open-snapshots.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { type DurableRunOptions, takeDurableSnapshot } from '../../lib/snapshot/durable/durable-snapshot.ts';
import { readGates } from '../../lib/snapshot/publish/gates.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { StoreError } from '../../lib/store/error.ts';
import type { Store } from '../../lib/store/store.ts';
import { publishedIn, settingsOf } from '../cli/run-command.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { callOf } from '../snapshot/sandbox-call.ts';

type RunEnd = Parameters<NonNullable<DurableRunOptions['onEnded']>>[0];

const job = { version: 1, type: 'snapshot', id: 'nightly-1', source: 'calculations' };

const folder = folderOfEach();
let store: Store;

await LocalDurableTestRunner.setupTestEnvironment();
const sandbox = await startPlatform({ calculations: 600, datasets: 6, cards: 40, fileSets: 0, dataFiles: 0 });

afterAll(async () => {
  await sandbox.close();
  await LocalDurableTestRunner.teardownTestEnvironment();
});

beforeEach(async () => {
  store = createDirectoryStore(folder.path);
});

/** The function with options for tests: a slice is one page, and every wait is the shortest possible, a second. */
const functionOf = (differences: Partial<DurableRunOptions> = {}): DurableLambdaHandler =>
  withDurableExecution(async (input: unknown, context) =>
    takeDurableSnapshot(parseExecutionInput(input), durableSteps(context, { random: () => 0 }), {
      call: callOf(sandbox),
      store,
      compression: 'gzip',
      host: 'acme.example.com',
      callCounts: () => ({ requests: 0, retries: 0, throttled: 0, waitedMs: 0 }),
      now: Date.now,
      random: Math.random,
      sleep: async () => undefined,
      sliceMs: 0,
      pageRows: 100,
      ...differences,
    }),
  );

const run = (handlerFunction: DurableLambdaHandler, payload: unknown = job) =>
  new LocalDurableTestRunner({ handlerFunction }).run({ payload });

const publishedLines = async () => (await publishedIn(folder.path, 'calculations')).lines;

/** The deployed handler, which opens its store once. */
async function deployed(): Promise<DurableLambdaHandler> {
  Object.assign(process.env, settingsOf(sandbox, process.env['SYNC_STORE'] ?? folder.path));
  return (await import('../../functions/snapshot/handler.ts')).handler;
}

/** Collects the lines written to standard output until it is disposed of. */
function writtenLines() {
  const spy = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  return {
    ended: () =>
      spy.mock.calls
        .map(([line]) => String(line))
        .filter((line) => line.includes('snapshot ended'))
        .map((line) => JSON.parse(line)),
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}

test('the deployed function takes the snapshot of a job, and the cards that follow it', async () => {
  const cards = { version: 1, type: 'snapshot', id: 'cards', source: 'cards' };
  using written = writtenLines();

  const execution = await run(await deployed(), { ...job, followers: [cards] });

  expect(execution.getStatus()).toBe('SUCCEEDED');
  expect(execution.getResult()).toMatchObject({
    kind: 'published',
    place: 'calculations',
    records: 600,
    refused: [],
    followers: [{ kind: 'published', place: 'cards', refused: [] }],
  });
  expect(await publishedLines()).toEqual([...sandbox.calculations()]);
  expect(written.ended()).toMatchObject([
    {
      level: 'info',
      job: 'nightly-1',
      place: 'calculations',
      run: expect.any(String),
      tookMs: expect.any(Number),
      kind: 'published',
      records: 600,
      missing: 0,
      refused: [],
    },
    { level: 'info', place: 'cards', kind: 'published' },
  ]);
});

test.for([
  [
    'cannot begin',
    { source: 'gadgets' },
    { job: 'nightly-1', source: 'gadgets', err: ['ExecutionInputError', 'source'] },
  ],
  [
    'is stopped, for a name that is longer than the platform takes',
    { as: 'narrow', name: 'x'.repeat(10 * 1024 * 1024) },
    { place: 'calculations.narrow', run: expect.any(String), err: ['SnapshotStoppedError', '413'] },
  ],
] as const)(
  'even an execution that %s leaves one log line, with its error',
  async ([, change, { err, ...line }]) => {
    using written = writtenLines();

    const execution = await run(await deployed(), { ...job, ...change });

    const [type, message] = err;
    expect(execution.getStatus()).toBe('FAILED');
    expect(written.ended()).toMatchObject([
      { level: 'error', kind: 'failed', ...line, err: { type, message: expect.stringContaining(message) } },
    ]);
  },
);

test('failed steps are retried, and each step stores little', async () => {
  let puts = 0;
  const put: Store['put'] = async (...args) => {
    const result = await store.put(...args);
    puts += 1;
    // The object is stored, but the response is lost: for parts, part records and checkpoints.
    if (puts % 7 === 0) throw new StoreError(`put ${args[0]}`, { kind: 'busy', code: 'SlowDown' });
    return result;
  };

  const execution = await run(functionOf({ store: { ...store, put } }));

  const steps = execution.getOperations().map((operation) => operation.getStepDetails());
  expect(execution.getStatus()).toBe('SUCCEEDED');
  expect(Math.max(...steps.map((step) => step?.attempt ?? 1))).toBeGreaterThan(1);
  expect(Math.max(...steps.map((step) => JSON.stringify(step?.result ?? '').length))).toBeLessThan(1_000);
  expect(await publishedLines()).toEqual([...sandbox.calculations()]);
});

test('the deployed function applies the gates of its settings, and its log line has the sizes of earlier runs', async () => {
  const more = await startPlatform({ calculations: 700, datasets: 6, cards: 0, fileSets: 0, dataFiles: 0 });
  const gates = readGates('{"calculations.gated":{"shrunk":0.9}}');
  const gated = { ...job, as: 'gated' };
  await run(functionOf({ call: callOf(more) }), gated);
  await more.close();
  const ended: RunEnd[] = [];

  const execution = await run(functionOf({ gates, onEnded: (end) => ended.push(end) }), gated);

  expect(execution.getResult()).toMatchObject({ kind: 'refused', refused: ['shrunk'] });
  expect(ended).toMatchObject([
    {
      kind: 'refused',
      reasons: [
        'shrunk: fewer than 90% of the last run’s records (SYNC_GATES); the last run had 700 records',
        expect.any(String),
      ],
    },
  ]);
});

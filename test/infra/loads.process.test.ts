import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSqsClient, createSqsQueue } from '../../lib/jobs/queue/sqs-queue.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { readSettings } from '../../lib/settings.ts';
import type { Place } from '../../lib/snapshot/keys.ts';
import { readLastPublication } from '../../lib/snapshot/publish/publish-parts.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { type ExecutionOptions, type LocalStack, startStack } from '../local-aws/stack/start-stack.ts';
import { synthStack } from '../local-aws/stack/synth-stack.ts';
import { readStack, resourcesOf } from '../local-aws/stack/template.ts';
import { templateValues } from '../local-aws/stack/template-values.ts';

/*
 * Nightly snapshots as deployed: the bundle, with its role and the settings of the template. Only times are shorter,
 * all by the same factor: the timeout of an invocation (and so its slices), the age at which a part is stored, the
 * timeout of a call, and the waits of an execution.
 */
const FACTOR = 30;

/** The rate of four concurrent runs, in calls a second. Each run makes enough calls for more than four slices. */
const RATE = 24;
const CALLS = 160;
const ROWS_OF_PAGE = 6;

/** When the table is throttled (real time), and for how long (time of the template). */
const THROTTLED_AFTER_MS = 10_000;
const THROTTLED_MS = 300_000;

const baseUrl = 'https://loads.invalid';
const running = new AsyncDisposableStack();
let platform: Sandbox;
let stack: LocalStack;
let store: Store;
let timeoutMs: number;
let requests: Readonly<Record<Source, object>>;
const logs: string[] = [];

beforeAll(async () => {
  platform = running.use(
    await startPlatform({
      // Each page repeats the last row of the previous one.
      ...{ calculations: CALLS * (ROWS_OF_PAGE - 1), pageCap: ROWS_OF_PAGE },
      ...{ datasets: CALLS, cards: 2 * CALLS, dataFiles: CALLS, fileSets: CALLS, filesPerSet: 5 },
    }),
  );
  const synthesized = running.use(await synthStack({ name: 'loads', baseUrl, rate: RATE }));
  const deployed = await readStack(synthesized.folder);
  const resolve = templateValues(deployed.template, { endpoint: 'http://127.0.0.1', texts: {} });
  const [properties] = resourcesOf(deployed.template, 'AWS::Lambda::Function')
    .filter(([id]) => id.startsWith('SnapshotsSnapshot'))
    .map(([, { Properties }]) => resolve(Properties) as FunctionProperties);
  const settings = readSettings(properties?.Environment.Variables ?? {});
  timeoutMs = Math.ceil(((properties?.Timeout ?? 0) * 1_000) / FACTOR);
  stack = running.use(
    await startStack({
      ...deployed,
      texts: { [baseUrl]: platform.url },
      secret: platform.token,
      overrides: {
        SYNC_PART_SECONDS: `${settings.SYNC_PART_SECONDS / FACTOR}`,
        PLATFORM_TIMEOUT_MS: `${settings.PLATFORM_TIMEOUT_MS / FACTOR}`,
      },
      onLog: (line) => void logs.push(line),
    }),
  );
  running.use(await stack.poll());
  store = await openStore(stack.output('Store'), { s3: stack.settings });
  const { datasets, dataFiles, fileSets } = platform.ids();
  requests = {
    calculations: {},
    cards: { datasets, as: 'loads' },
    files: { filesets: fileSets },
    'data-files': { ids: dataFiles },
  };
}, 120_000);

type FunctionProperties = {
  readonly Timeout: number;
  readonly Environment: { readonly Variables: Readonly<Record<string, string>> };
};

afterAll(() => running.disposeAsync());

const sources = ['calculations', 'cards', 'files', 'data-files'] as const;

type Source = (typeof sources)[number];

const places = {
  calculations: 'calculations',
  cards: 'cards.loads',
  files: 'files',
  'data-files': 'data-files',
} as const satisfies Readonly<Record<Source, Place>>;

/** Starts a snapshot of each source by a job, and runs the executions concurrently. */
async function takeAll(night: string, options: ExecutionOptions = {}) {
  const queueUrl = stack.output('QueueUrl');
  const client = createSqsClient(queueUrl, stack.settings);
  const jobs = sources.map((source) => ({ id: `${night}-${source}`, source, ...requests[source] }));
  await createSqsQueue(queueUrl, client).send(
    jobs.map((job) => JSON.stringify({ version: 1, type: 'snapshot', ...job })),
  );
  client.destroy();
  return Promise.all(
    jobs.map(async ({ id, source }) => {
      const name = await startedBy(id);
      const ended = await stack.runExecution(name, {
        timeoutMs,
        sleep: (ms) => delay(ms / FACTOR),
        ...options,
      });
      return { source, ended };
    }),
  );
}

/** The name of the execution that a job started. */
async function startedBy(id: string): Promise<string> {
  for (let look = 0; look < 300; look += 1) {
    const name = stack.lambda.requests.find(({ input }) => Object(input).id === id)?.name;
    if (name !== undefined) return name;
    await delay(100);
  }
  throw new Error(`job ${id} started nothing; the functions said:\n${logs.slice(-20).join('\n')}`);
}

/** The lines of a published run, in order. */
async function publishedLines(source: Source): Promise<readonly string[]> {
  const { manifest } = await readLastPublication(store, places[source]);
  if (manifest === undefined) throw new Error('expected a published run, got none');
  const { parts } = manifest;
  const bodies = await Promise.all(parts.map(async ({ key }) => (await store.get(key))?.body));
  return bodies.flatMap((body) =>
    gunzipSync(body ?? '')
      .toString()
      .split('\n')
      .slice(0, -1),
  );
}

/** The keys under which the function stored (`PUT`) or deleted (`DELETE`) open parts of a source's run. */
const openParts = (method: 'PUT' | 'DELETE', source: Source) =>
  new Set(
    stack.requests
      .filter((request) => request.method === method && request.status < 300)
      .flatMap(({ path }) => new RegExp(`/work/${places[source]}/[^/]+/open-[^?]+`).exec(path) ?? []),
  );

const slicesIn = (operations: readonly string[]) =>
  operations.filter((name) => name.startsWith('slice-')).length;

/** The last warnings and errors of the functions. */
const faults = () =>
  logs
    .filter((line) => /"level":"(warn|error)"|Task timed out/.test(line))
    .slice(-10)
    .map((line) => line.slice(0, 600))
    .join('\n');

test('each source is published although its run needs four slices or more and replaces its open part ten times or more', {
  timeout: 400_000,
}, async () => {
  const all = await takeAll('first');

  for (const { source, ended } of all) {
    expect(ended, faults()).toMatchObject({
      status: 'SUCCEEDED',
      result: { kind: 'published', place: places[source], refused: [] },
    });
    expect(slicesIn(ended.operations), source).toBeGreaterThanOrEqual(4);
    expect(openParts('DELETE', source).size, source).toBeGreaterThanOrEqual(10);
  }
});

test('no record is lost or doubled if each slice is killed once and the table is throttled for a while', {
  timeout: 400_000,
}, async () => {
  const before = await Promise.all(sources.map(publishedLines));
  const killed = new Set<string>();
  const throttle = delay(THROTTLED_AFTER_MS).then(async () => {
    stack.throttled.add('dynamodb');
    await delay(THROTTLED_MS / FACTOR);
    stack.throttled.delete('dynamodb');
  });

  const all = await takeAll('second', {
    onStep(name, crash) {
      if (!name.startsWith('slice-') || killed.has(name)) return;
      killed.add(name);
      // By this time it has stored a checkpoint.
      void delay(timeoutMs / 20).then(crash);
    },
  });
  await throttle;

  for (const { source, ended } of all) {
    expect(ended, faults()).toMatchObject({
      status: 'SUCCEEDED',
      result: { kind: 'published', place: places[source], refused: [] },
    });
    expect(slicesIn(ended.operations), source).toBeGreaterThanOrEqual(4);
    expect(ended.invocations, source).toBeGreaterThan(4);
  }
  expect(await Promise.all(sources.map(publishedLines))).toEqual(before);
});

test('the policies of the template allow everything that happened', () => {
  expect(stack.access.refusals()).toEqual([]);
});

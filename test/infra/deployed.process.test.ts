import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logQueries } from '../../infra/log-queries.ts';
import { glueTableOf, jobTypes, settingNames, sources } from '../../lib/contract.ts';
import { createSqsClient, createSqsQueue } from '../../lib/jobs/queue/sqs-queue.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { keySegment } from '../../lib/store/key.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { sometimes } from '../local-aws/functions/lambda-rules.ts';
import { objectCreated } from '../local-aws/stack/object-created.ts';
import { type LocalStack, startStack } from '../local-aws/stack/start-stack.ts';
import { synthStack } from '../local-aws/stack/synth-stack.ts';
import { readStack, resourcesOf, type StackToRun } from '../local-aws/stack/template.ts';

const baseUrl = 'https://deployed.invalid';
const packageId = codePackages[0]?.id ?? '';

/** A narrowed snapshot, which has its own place. */
const FEW = { source: 'data-files', as: 'few', cron: '0 6 * * ? *', ids: ['1'] };

const instance = {
  name: 'deployed',
  baseUrl,
  tokenHeader: 'X-Deployed-Token',
  tokenParameter: '/deployed/token',
  rate: 2_000,
  compression: 'zstd',
  allow: { types: jobTypes, packages: [packageId] },
  schedules: [{ source: 'calculations', cron: '0 2 * * ? *', digest: true }, { source: 'cards' }, FEW],
  functions: [
    {
      name: 'nightly',
      cron: '0 1 * * ? *',
      packageId,
      packageVersion: '1.0.0',
      functionName: 'slugify',
      inputVariables: { title: 'At <aws.scheduler.scheduled-time>' },
    },
  ],
  alarms: { email: 'night@example.com', sentimentCallsPerDay: 1 },
  eventRules: [
    {
      name: 'sums',
      pattern: { source: ['orders'], 'detail-type': ['Placed'] },
      packageId,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: { first: '$.detail.items[0].price', second: { $path: '$.detail.fee', $default: 1 } },
    },
    {
      name: 'days',
      pattern: { source: ['orders'], detail: { 'placed-at': [{ exists: true }] } },
      packageId,
      packageVersion: '1.0.0',
      functionName: 'businessDays',
      inputVariables: { start: '$.detail.placed-at', end: '2026-12-01', holidays: '$.detail.holidays' },
    },
  ],
};

const running = new AsyncDisposableStack();
let platform: Sandbox;
let deployed: StackToRun;
let stack: LocalStack;
let store: Store;
const logs: string[] = [];
const rarely = sometimes(2);

beforeAll(async () => {
  platform = running.use(
    await startPlatform({
      calculations: 40,
      datasets: 4,
      cards: 12,
      fileSets: 1,
      filesPerSet: 300,
      dataFiles: 9,
      tokenHeader: 'X-Deployed-Token',
    }),
  );
  deployed = await readStack(running.use(await synthStack(instance)).folder);
  stack = running.use(
    await startStack({
      ...deployed,
      texts: { [baseUrl]: platform.url },
      secret: platform.token,
      onLog: (line) => void logs.push(line),
      // Rare repetitions happen every time. Processes are still frozen and reused.
      sometimes: (rule) => rule !== 'recycles' || rarely(rule),
    }),
  );
  running.use(await stack.poll());
  store = await openStore(stack.output('Store'), { s3: stack.settings });
}, 120_000);

afterAll(() => running.disposeAsync());

const send = (output: string, jobs: readonly object[]) => sendTo(stack, output, jobs);

/** Sends jobs to the queue that an output of the stack names. */
async function sendTo(
  { output: outputOf, settings }: LocalStack,
  output: string,
  jobs: readonly object[],
): Promise<void> {
  const queueUrl = outputOf(output);
  const client = createSqsClient(queueUrl, settings);
  await createSqsQueue(queueUrl, client).send(jobs.map((job) => JSON.stringify(job)));
  client.destroy();
}

/** Waits for an object in the store, and returns its JSON. */
async function stored(find: () => Promise<string | undefined>) {
  for (let look = 0; look < 200; look += 1) {
    const key = await find();
    const object = key === undefined ? undefined : await store.get(key);
    if (object !== undefined) return JSON.parse(object.body.toString());
    await delay(100);
  }
  throw new Error(`expected an object in the store; the functions said:\n${logs.slice(-20).join('\n')}`);
}

const resultOf = (id: string) =>
  stored(async () => {
    for await (const { key } of store.list('results/'))
      if (key.endsWith(`/${keySegment(id)}.json`)) return key;
    return undefined;
  });

/** Finds the rejected message that contains this text. */
const refusedWith = (text: string) =>
  stored(async () => {
    for await (const { key } of store.list('refused/'))
      if ((await store.get(key))?.body.includes(text)) return key;
    return undefined;
  });

/** Finds a logical id by its beginning. */
const idOf = (start: string) =>
  Object.keys(deployed.template.Resources).find((id) => new RegExp(`^${start}[0-9A-F]{8}$`).test(id)) ?? '';

/** The actions that a role used and was allowed, by the beginning of its logical id. */
const actionsOf = (role: string) =>
  stack.access
    .calls()
    .filter(({ by }) => by === idOf(role))
    .map(({ action }) => action);

test('every variable of a function is a known setting', () => {
  for (const [, { Properties }] of resourcesOf(deployed.template, 'AWS::Lambda::Function')) {
    const { Variables } = Properties['Environment'] as { readonly Variables: object };
    expect(settingNames).toEqual(expect.arrayContaining(Object.keys(Variables)));
  }
});

/** A job that runs a function. */
const runs = (id: string, functionName: string, inputVariables = {}) => ({
  version: 1,
  type: 'run-function',
  id,
  packageId,
  packageVersion: '1.0.0',
  functionName,
  inputVariables,
});

test('the bundle of run-jobs takes jobs of every type from the queue', async () => {
  const [calculationId] = [...platform.calculations()].map((line) => /"id":(\d+)/.exec(line)?.[1]);
  const [dataFileId = ''] = platform.ids().dataFiles;

  await send('QueueUrl', [
    runs('adds', 'addNumbers', { first: 2, second: 3 }),
    { version: 1, type: 'score', id: 'scores', texts: [{ id: 'a', text: 'This is wonderful!' }] },
    { version: 1, type: 'update-formula', id: 'sets', calculationId, expression: '1 + 1' },
    { version: 1, type: 'data-files', id: 'reads', ids: [dataFileId] },
  ]);

  expect(await resultOf('adds')).toMatchObject({ status: 'done', response: { result: 5 } });
  expect(await resultOf('scores')).toMatchObject({
    status: 'done',
    response: { results: [{ id: 'a', calls: 1 }] },
  });
  expect(await resultOf('sets')).toMatchObject({ status: 'done', response: { expression: '1 + 1' } });
  expect(await resultOf('reads')).toMatchObject({ status: 'done', response: { missing: [] } });
});

test('jobs that SYNC_ALLOW does not allow are rejected, and the other jobs run', async () => {
  await send('QueueUrl', [{ ...runs('foreign', 'f'), packageId: '00000000-0000-4000-8000-000000000000' }]);

  expect(await refusedWith('foreign')).toBeDefined();
});

test('code functions run through their own queue and Lambda function', async () => {
  await send('FunctionsQueueUrl', [runs('alone', 'addNumbers', { first: 4, second: 5 })]);

  expect(await resultOf('alone')).toMatchObject({ status: 'done', response: { result: 9 } });
  expect(actionsOf('JobsRunFunctionsRole')).toContain('sqs:ReceiveMessage');
});

test('a function on a schedule runs once for each time, however often its message is delivered', async () => {
  const at = new Date('2026-11-24T01:00:00Z');
  const send = () => stack.runSchedule(idOf('ScheduledFunctionsnightly'), at);

  await send();
  await send();
  const result = await resultOf('nightly.2026-11-24T01:00:00Z');
  await send();

  expect(result).toMatchObject({
    status: 'done',
    attempts: 1,
    response: { result: 'at-2026-11-24t01-00-00z' },
  });
});

/** An event of an order. The stack delivers each event twice. */
const order = (id: string, detail: object) => ({
  version: '0',
  id,
  'detail-type': 'Placed',
  source: 'orders',
  detail,
});

test('an event becomes one job for each rule that matches it, however often it is delivered', async () => {
  const detail = { items: [{ price: 4 }], 'placed-at': '2026-11-20', holidays: ['2026-11-26'] };

  const sent = await stack.emit(order('first-order', detail));
  await stack.emit(order('first-order', detail));

  expect(sent).toHaveLength(2);
  expect(await resultOf('sums.first-order')).toMatchObject({ status: 'done', response: { result: 5 } });
  expect(await resultOf('days.first-order')).toMatchObject({ status: 'done' });
});

test('an event without a required field is refused, and the error names its rule', async () => {
  await stack.emit(order('second-order', { items: [] }));

  expect((await refusedWith('second-order')).faults).toEqual([
    'inputVariables.first: expected $.detail.items[0].price in the event of rule sums, got nothing: $.detail.items is a list of 0',
  ]);
});

test('an outcome that is too large for the table is stored elsewhere, and the result is complete', async () => {
  const rows = Array.from({ length: 2_000 }, (_, row) => ({
    row,
    text: 'a text of forty characters, or near to it',
  }));

  await send('QueueUrl', [runs('large', 'dedupeRows', { rows, keys: ['row'] })]);

  expect(await resultOf('large')).toMatchObject({ status: 'done', response: { result: rows } });
  expect(stack.requests.map(({ path }) => path)).toContainEqual(
    expect.stringMatching(/\/work\/outcomes\/large\//),
  );
});

test('a request in the inbox is split, and its texts are scored', async () => {
  const texts = ['id,text', 'a,The delivery was late.', 'b,The price was great!'].join('\n');
  await store.put('texts/may.csv', Buffer.from(texts));
  await store.put('inbox/may.json', Buffer.from('{"object":"texts/may.csv","text":"text","id":"id"}'));
  const [bucket = ''] = stack.output('Store').split('/').slice(2);

  const of = (key: string) => objectCreated({ bucket, key, sizeBytes: 58, etag: 'b57f' });
  const responses = await stack.emit(of('inbox/may.json'));
  // Deliver the event a second time, as may happen.
  await stack.emit(of('inbox/may.json'));

  expect(responses).toHaveLength(1);
  expect(await stack.emit(of('texts/may.csv'))).toEqual([]);
  expect(await stored(async () => 'scores/may/_summary.json')).toMatchObject({
    scored: 2,
    failed: 0,
    bad: 0,
  });
});

/** Sends a snapshot job, and runs the execution that it starts. */
async function take(id: string, request: object) {
  await send('QueueUrl', [{ version: 1, type: 'snapshot', id, ...request }]);
  const { response } = await resultOf(id);
  return { name: response.started as string, ended: await stack.runExecution(response.started) };
}

test('a snapshot job starts an execution through the alias, and the bundle of snapshot runs it', async () => {
  const { name, ended } = await take('nightly', { source: 'calculations' });

  expect(name).toMatch(/^calculations-[0-9a-f]{40}$/);
  expect(stack.lambda.requests).toMatchObject([
    { function: stack.output('SnapshotFunction'), invocationType: 'Event', name },
  ]);
  expect(ended).toMatchObject({
    status: 'SUCCEEDED',
    result: { kind: 'published', records: 40, followers: [{ kind: 'published', place: 'cards' }] },
  });
});

test('a run is compared with the previous one, and every source can be copied', {
  timeout: 120_000,
}, async () => {
  platform.churn(10);
  const [fileset] = platform.ids().fileSets;
  const [dataFile] = platform.ids().dataFiles;

  const second = await take('second', { source: 'calculations' });
  const files = await take('files', { source: 'files', filesets: [fileset] });
  const dataFiles = await take('data-files', { source: 'data-files', ids: [dataFile] });
  const few = await take('few', { source: 'data-files', as: 'few', ids: [dataFile] });

  for (const { ended } of [second, files, dataFiles, few])
    expect(ended).toMatchObject({ status: 'SUCCEEDED', result: { kind: 'published' }, invocations: 1 });
});

test('a run that saves often deletes the open parts that it replaced', async () => {
  const overrides = { PLATFORM_RATE: '1', SYNC_PART_SECONDS: '1' };
  await using slow = await startStack({
    ...deployed,
    ...{ texts: { [baseUrl]: platform.url }, secret: platform.token, overrides },
  });
  await using _ = await slow.poll();
  const place = await openStore(slow.output('Store'), { s3: slow.settings });
  const ids = platform.ids().dataFiles;
  await sendTo(slow, 'QueueUrl', [{ version: 1, type: 'snapshot', id: 'slow', source: 'data-files', ids }]);
  for (let look = 0; look < 100 && slow.lambda.requests.length === 0; look += 1) await delay(100);

  const ended = await slow.runExecution(slow.lambda.requests[0]?.name ?? '');

  expect(ended).toMatchObject({ status: 'SUCCEEDED', result: { kind: 'published', records: ids.length } });
  expect(slow.access.refusals()).toEqual([]);
  const open = slow.requests.filter(({ method, path }) => method === 'PUT' && /\/open-/.test(path));
  const remaining = await Array.fromAsync(place.list('work/data-files/'), ({ key }) => key);
  expect(open.length).toBeGreaterThan(3);
  expect(remaining.filter((key) => key.includes('/open-')).length).toBeLessThan(3);
});

const writesTables = () =>
  Object.keys(deployed.template.Resources).find((each) => each.startsWith('TablesDaily')) ?? '';

test('each published run has a partition in the table that the template creates, and its parts lie where the table says', async () => {
  await stack.runSchedule(writesTables());
  for (const source of sources) {
    const { manifest, run } = await stored(async () => `${source}/latest.json`);
    const folder = manifest.replace('_manifest.json', '');
    const { parts } = await stored(async () => manifest);

    const partition = stack.glue.partitions(glueTableOf(source)).find(({ Values }) => Values[1] === run);

    expect(partition).toMatchObject({
      StorageDescriptor: {
        Location: `${stack.output('Store')}/parquet/${folder}`,
        SerdeInfo: expect.anything(),
      },
    });
    expect(parts[0].key).toMatch(/\.ndjson\.zst$/);
  }
});

/** The log lines that the saved query finds for an id. */
function foundFor(id: string) {
  const [, text = ''] = /^filter @message like \/(.+)\/$/.exec(logQueries.job.query[1]) ?? [];
  const found = new RegExp(text.replace('ID', id));
  return logs.filter((line) => found.test(line)).map((line) => JSON.parse(line));
}

test('the saved query finds the log lines of a job, from its start to the end of the run that it started', async () => {
  const { run } = await stored(async () => 'files/latest.json');
  const ofJob = foundFor('files');
  const ofRun = foundFor(run);

  expect(ofJob).toMatchObject([
    { msg: 'job started', messageId: expect.any(String), request: expect.any(String) },
    { msg: 'job ended', type: 'snapshot', status: 'done', tookMs: expect.any(Number) },
    { msg: 'snapshot started', place: 'files', run },
    { msg: 'snapshot ended', kind: 'published', run, tookMs: expect.any(Number) },
  ]);
  expect(ofRun).toContainEqual(ofJob.at(-1));
  // The invocation of the worker, and the one that copied the snapshot.
  for (const { request } of [ofJob[0], ofJob[3]])
    expect(foundFor(request)).toMatchObject([
      { msg: 'invocation started' },
      ...foundFor(request)
        .slice(1, -1)
        .map(() => expect.anything()),
      { msg: 'invocation ended', tookMs: expect.any(Number) },
    ]);
});

test('every job that ended was announced on the event bus', async () => {
  const announced = stack.events.map(({ Source, DetailType, Detail }) => [
    Source,
    DetailType,
    JSON.parse(Detail).id,
  ]);

  for (const id of ['adds', 'scores', 'sets', 'reads', 'alone', 'nightly'])
    expect(announced).toContainEqual(['platform-sync', 'JobFinished', id]);
  expect(JSON.parse(stack.events[0]?.Detail ?? '{}')).toMatchObject({ store: stack.output('Store') });
});

test('the function that builds tables creates the missing tables of a run', async () => {
  const id = writesTables();
  const { manifest } = await stored(async () => 'files/latest.json');
  const lost = `parquet/${manifest.replace('_manifest.json', 'part-00000.parquet')}`;
  await store.delete(lost);

  const first = await stack.runSchedule(id);
  const second = await stack.runSchedule(id);

  // One step did everything: neither result has a remainder (`left`).
  expect([first, second]).not.toContainEqual(expect.objectContaining({ left: expect.anything() }));
  expect(first).toMatchObject({ made: 1, skipped: [] });
  expect(second).toMatchObject({ made: 0, skipped: [] });
  expect(await store.get(lost)).toBeDefined();
});

test('the hourly check reports no place of a schedule as missing, whether it is narrowed or not', async () => {
  const look = () => stack.runSchedule(idOf('ExpectedSnapshotsHourly'));
  await look();
  // Set the time from which it is expected to long ago.
  const key = 'work/expected-snapshots.json';
  const state = String((await store.get(key))?.body);
  await store.put(key, Buffer.from(state.replaceAll(/"sinceMs": ?\d+/g, '"sinceMs":0')));

  expect(state).toContain('data-files.few');
  expect(await look()).toEqual({ missing: [] });
});

test('a scheduled function whose job does not arrive within an hour counts as missing until it does', async () => {
  const at = new Date('2026-11-25T01:00:00Z');
  const look = () => stack.runSchedule(idOf('ExpectedSnapshotsHourly'));
  await stack.runSchedule(idOf('ScheduledFunctionsnightlydue'), at);

  expect(await look()).toMatchObject({ missing: [{ id: 'nightly.2026-11-25T01:00:00Z' }] });
  await stack.runSchedule(idOf('ScheduledFunctionsnightly'), at);
  await resultOf('nightly.2026-11-25T01:00:00Z');
  expect(await look()).toEqual({ missing: [] });
});

test('the report is written after a publication, and the changes are mailed once', async () => {
  const [id = ''] = Object.keys(deployed.template.Resources).filter((each) =>
    each.startsWith('ReportsFindNewRuns'),
  );
  const { run } = await stored(async () => 'calculations/latest.json');

  const first = await stack.runSchedule(id);
  const second = await stack.runSchedule(id);

  expect(first).toEqual({ report: 'written', digests: [{ place: 'calculations', run }] });
  expect(second).toEqual({ report: 'current', digests: [] });
  expect(stack.output('ReportLocation')).toBe(`${store.location}/report/latest.html`);
  expect(await store.get('report/latest.html')).toBeDefined();
  expect((await stored(async () => 'report/latest.json')).runs).toMatchObject({ calculations: run });
  expect(stack.published).toMatchObject([
    {
      topic: expect.stringMatching(/:AlarmsTopicsTopic[0-9A-F]{8}$/),
      subject: expect.stringMatching(/^calculations of /),
    },
  ]);
  expect(stack.published[0]?.messages['default']).toContain(`calculations: run ${run} was published.`);
});

test('no job ran its function twice', () => {
  const { executionsByFunction } = platform.counts();

  expect(executionsByFunction).toEqual({
    [`${packageId}/1.0.0/addNumbers`]: 3,
    [`${packageId}/1.0.0/businessDays`]: 1,
    [`${packageId}/1.0.0/dedupeRows`]: 1,
    // One run for each time of the schedule.
    [`${packageId}/1.0.0/slugify`]: 2,
  });
});

test('each function that calls the platform reads the token from its parameter', () => {
  for (const role of ['JobsRunJobsRole', 'JobsRunFunctionsRole', 'SnapshotsSnapshotRole'])
    expect(actionsOf(role)).toContain('ssm:GetParameter');
});

test('no function requested anything that its role does not allow', () => {
  expect(stack.access.refusals()).toEqual([]);
});

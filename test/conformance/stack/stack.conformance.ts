import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetDatabasesCommand, GetPartitionsCommand, GlueClient } from '@aws-sdk/client-glue';
import {
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  ListFunctionsCommand,
} from '@aws-sdk/client-lambda';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openQueue } from '../../../lib/jobs/queue/open-queue.ts';
import { codePackages } from '../../../lib/sandbox/platform/functions/packages.ts';
import { openStore } from '../../../lib/store/open.ts';
import { createS3Client } from '../../../lib/store/s3-client.ts';
import type { Store } from '../../../lib/store/store.ts';
import { enginesOf } from '../../base/aws/engines.ts';
import { credentials, REGION } from '../../local-aws/identity.ts';
import { synthStack } from '../../local-aws/stack/synth-stack.ts';
import { readStack } from '../../local-aws/stack/template.ts';
import { queryParquet } from '../../tables/parquet/parquet-rows.ts';
import { adaptTemplate, isLeftOut, leftOut } from './adapt-template.ts';
import { type Deployment, openDeployer, rebuilt } from './deploy.ts';
import { executionOf } from './executions.ts';

/*
 * Deploys the stack to an emulated account: MiniStack's CloudFormation creates it from the synthesized template, and
 * MiniStack's services run it. Outside it, only our reference platform runs. Measurements are printed as one line.
 */

const BASE_URL = 'https://deployed.invalid';
const CRON = 'cron(0 2 * * ? *)';
const RECORDS = 1_400;
/** A page of 20 takes a quarter of a second, so that a run has several slices and takes several invocations. */
const PLATFORM = { calculations: RECORDS, pageCap: 20, datasets: 4, cards: 12, latencyMs: 250 };
/** The function's timeout in seconds. A slice lasts a fifth of it. */
const SNAPSHOT_TIMEOUT = 12;
/** Maximum time from the schedule to a row that can be queried, in seconds. */
const GOAL = 60;
/** How long the deployment may take before the schedule is due. */
const MARGIN_MS = 20_000;

const packageId = codePackages[0]?.id ?? '';
const sums = { packageId, packageVersion: '1.0.0', functionName: 'addNumbers' };
const instance = {
  name: 'there',
  baseUrl: BASE_URL,
  tokenParameter: '/there/token',
  rate: 1_000,
  schedules: [{ source: 'calculations', cron: '0 2 * * ? *', digest: true }, { source: 'cards' }],
  eventRules: [
    {
      name: 'sums',
      pattern: { source: ['orders'] },
      ...sums,
      inputVariables: { first: '$.detail.first', second: '$.detail.second' },
    },
  ],
  alarms: { email: 'night@example.com' },
  readers: ['444455556666'],
};

const running = new AsyncDisposableStack();
const { miniStack: engine = { endpoint: '', python: '' } } = enginesOf(process.env);
const settings = {
  AWS_ENDPOINT_URL: engine.endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
};
const config = { endpoint: engine.endpoint, region: REGION, credentials };
const clientOf = <T extends { destroy(): void }>(client: T): T => {
  running.defer(() => client.destroy());
  return client;
};
const lambda = clientOf(new LambdaClient(config));
const glue = clientOf(new GlueClient(config));
const events = clientOf(new EventBridgeClient(config));
const dynamoDb = clientOf(new DynamoDBClient(config));
const sqs = clientOf(new SQSClient(config));
const s3 = clientOf(createS3Client(settings));
const deployer = running.use(openDeployer(engine, 'platform-sync-there'));

let platform: { readonly url: string; readonly token: string; readonly dataFiles: readonly number[] };
let synthesized: Deployment;
let deployed: Deployment;
let updated: Deployment;
let outputs: Readonly<Record<string, string>>;
let store: Store;
/** The time at which the schedule is due. */
let dueMs: number;

/** Seconds that each step took, by its name. */
const took: Record<string, number> = {};

async function timed<T>(name: string, act: () => Promise<T>): Promise<T> {
  const startedAt = Date.now();
  const result = await act();
  took[name] = secondsSince(startedAt);
  return result;
}

const secondsSince = (ms: number) => Math.round((Date.now() - ms) / 100) / 10;

/** Starts the reference platform in a separate process. */
async function startPlatform() {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'platform-process.ts'), JSON.stringify(PLATFORM)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  running.defer(async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  throw new Error('expected the platform to print where it is');
}

async function synth(of: object): Promise<Deployment> {
  const { folder } = running.use(await synthStack(of));
  return await readStack(folder);
}

/** The next minute after the deployment, as a cron expression for the schedule. */
function nextMinute() {
  const due = new Date(Math.ceil((Date.now() + MARGIN_MS) / 60_000) * 60_000);
  return { dueMs: due.getTime(), cron: `cron(${due.getUTCMinutes()} ${due.getUTCHours()} * * ? *)` };
}

beforeAll(async () => {
  platform = await startPlatform();
  await deployer.prepare({ '/there/token': platform.token });
  const folder = running.use(await mkdtempDisposable(join(tmpdir(), 'platform-sync-rebuilt-'))).path;
  const both = await timed('synth', () => Promise.all([synth(instance), synth({ ...instance, rate: 500 })]));
  const next = nextMinute();
  dueMs = next.dueMs;
  const adapted = ({ template, assets }: Deployment): Deployment => ({
    assets,
    template: adaptTemplate(template, {
      baseUrl: { from: BASE_URL, to: platform.url },
      cron: { from: CRON, to: next.cron },
      snapshotTimeout: SNAPSHOT_TIMEOUT,
    }),
  });
  synthesized = both[0];
  deployed = adapted(both[0]);
  updated = await rebuilt(adapted(both[1]), folder);
  await timed('create', () => deployer.create(deployed));
  outputs = await deployer.outputs();
  store = await openStore(outputs['Store'] ?? '', { s3: settings });
}, 180_000);

afterAll(async () => {
  console.log(`stack: ${JSON.stringify(took)}`);
  await running.disposeAsync();
});

/** Calls `find` until it returns a value. */
async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  for (let look = 0; look < 600; look += 1) {
    const found = await find();
    if (found !== undefined) return found;
    await delay(200);
  }
  throw new Error(`expected ${what}`);
}

/** Waits for an object, and returns its JSON. */
const stored = (key: string) =>
  until(key, async () => {
    const object = await store.get(key);
    return object && JSON.parse(object.body.toString());
  });

/** Waits for the result of a job. */
const resultOf = (type: string, id: string) =>
  until(`a result of ${id}`, async () => {
    for await (const { key } of store.list(`results/${type}/`)) {
      const result = await stored(key);
      if (result.id === id) return result;
    }
    return undefined;
  });

async function send(job: object): Promise<void> {
  const queue = await openQueue(outputs['QueueUrl'] ?? '', settings);
  await queue.send([JSON.stringify({ version: 1, ...job })]);
}

/** The snapshot function, whose output is the ARN of its alias. */
const snapshotFunction = () => outputs['SnapshotFunction']?.split(':')[6] ?? '';

/** Waits until the execution of a snapshot job is as expected. */
const execution = (
  job: { readonly response: { readonly started: string } },
  isReady: (steps: readonly string[]) => boolean,
) =>
  until(`the execution ${job.response.started}`, async () => {
    const found = await executionOf(lambda, snapshotFunction(), job.response.started);
    return found !== undefined && (isReady(found.steps) || found.status !== 'RUNNING') ? found : undefined;
  });

const toItsEnd = () => false;

/** The rows of a published run at the location of its Glue partition. As in Athena, names that begin with `_` are skipped. */
async function rowsOf(TableName: string, run: string) {
  const location = await until(`a partition of ${TableName} for ${run}`, async () => {
    const { Partitions = [] } = await glue.send(
      new GetPartitionsCommand({ DatabaseName: outputs['GlueDatabase'], TableName }),
    );
    return Partitions.find(({ Values = [] }) => Values.includes(run))?.StorageDescriptor?.Location;
  });
  const folder = location.slice(`${outputs['Store']}/`.length);
  const rows = [];
  for await (const { key } of store.list(folder)) {
    if (/^[_.]/.test(key.slice(folder.length))) continue;
    const { body } = (await store.get(key)) ?? { body: Buffer.alloc(0) };
    rows.push(...(await queryParquet(body)));
  }
  return rows;
}

test('MiniStack creates every resource of the template that it is sent', async () => {
  const all = await deployer.made();

  expect(all.map(({ id, status }) => ({ id, status }))).toEqual(
    all.map(({ id }) => ({ id, status: 'CREATE_COMPLETE' })),
  );
  expect(all.map(({ id }) => id).sort()).toEqual(Object.keys(deployed.template.Resources).sort());
});

test('MiniStack refuses the resources that are removed from the template', async () => {
  for (const entry of leftOut) {
    const resource = Object.values(synthesized.template.Resources).find((each) => isLeftOut(entry, each));
    expect(await deployer.refusal({ ...resource, DependsOn: [] })).toContain(entry.refused);
  }
}, 60_000);

describe.concurrent('with nothing but the deployed stack and the platform', () => {
  test('a job on the queue has a result', { timeout: 120_000 }, async () => {
    const { status, response } = await timed('job', async () => {
      await send({ type: 'run-function', id: 'adds', ...sums, inputVariables: { first: 2, second: 3 } });
      return await resultOf('run-function', 'adds');
    });

    expect({ status, result: response.result }).toEqual({ status: 'done', result: 5 });
  });

  test('an event runs a function', { timeout: 120_000 }, async () => {
    const { status, response } = await timed('event', async () => {
      const Detail = JSON.stringify({ first: 20, second: 30 });
      const { Entries: [entry] = [] } = await events.send(
        new PutEventsCommand({ Entries: [{ Source: 'orders', DetailType: 'Placed', Detail }] }),
      );
      return await resultOf('run-function', `sums.${entry?.EventId}`);
    });

    expect({ status, result: response.result }).toEqual({ status: 'done', result: 50 });
  });

  test('a batch from the inbox is scored', { timeout: 120_000 }, async () => {
    const rows = Array.from(
      { length: 150 },
      (_, row) => `${row},${row % 2 ? 'I love it' : 'I hate it'} ${row % 10}`,
    );
    const summary = await timed('batch', async () => {
      await store.put('texts/may.csv', Buffer.from(`user,comment\n${rows.join('\n')}\n`));
      const request = { object: 'texts/may.csv', text: 'comment', id: 'user' };
      await store.put('inbox/may.json', Buffer.from(JSON.stringify(request)));
      return await stored('scores/may/_summary.json');
    });

    expect(summary).toMatchObject({ rows: 150, scored: 150, failed: 0 });
  });

  test(`a schedule takes a snapshot, and ${GOAL} s later its rows can be queried`, {
    timeout: 240_000,
  }, async () => {
    const id = `calculations.${new Date(dueMs).toISOString().replace('.000', '')}`;
    await delay(Math.max(0, dueMs - Date.now()));
    const job = await resultOf('snapshot', id);
    took['scheduled: job'] = secondsSince(dueMs);
    const { run } = await stored('calculations/latest.json');
    took['scheduled: calculations'] = secondsSince(dueMs);
    const rows = await rowsOf('stored_calculations', run);
    took['scheduled: row'] = secondsSince(dueMs);
    const { run: cardsRun } = await stored('cards/latest.json');
    took['scheduled: cards'] = secondsSince(dueMs);
    const cards = await rowsOf('stored_cards', cardsRun);
    took['scheduled: row of cards'] = secondsSince(dueMs);
    const ended = await execution(job, toItsEnd);

    expect(job).toMatchObject({ id, status: 'done' });
    expect(ended).toMatchObject({
      status: 'SUCCEEDED',
      version: '1',
      result: { kind: 'published', records: RECORDS, followers: [{ kind: 'published', place: 'cards' }] },
    });
    expect(ended.steps.filter((name) => /^slice-\d+-calculations$/.test(name)).length).toBeGreaterThan(2);
    expect(ended.invocations).toBeGreaterThan(1);
    expect(new Set(rows.map((row) => row['id'])).size).toBe(RECORDS);
    expect(cards.length).toBeGreaterThan(0);
    expect(took['scheduled: row of cards']).toBeLessThan(GOAL);
  });
});

test('an update of the stack during a run leaves that run on its version, and the next run starts on the new one', async () => {
  const configuration = async () => {
    const { FunctionVersion = '' } = await lambda.send(
      new GetAliasCommand({ FunctionName: snapshotFunction(), Name: 'live' }),
    );
    const { CodeSha256, Environment } = await lambda.send(
      new GetFunctionConfigurationCommand({ FunctionName: snapshotFunction(), Qualifier: 'live' }),
    );
    return { version: FunctionVersion, code: CodeSha256, rate: Environment?.Variables?.['PLATFORM_RATE'] };
  };
  const before = await configuration();
  await send({ type: 'snapshot', source: 'calculations', id: 'under-way' });
  const job = await resultOf('snapshot', 'under-way');
  const begun = await execution(job, (steps) => steps.includes('slice-1-calculations'));

  const changes = await timed('update', () => deployer.update(updated));
  const during = await execution(job, () => true);
  const ended = await timed('rest of the run', () => execution(job, toItsEnd));
  await send({ type: 'snapshot', source: 'data-files', ids: platform.dataFiles, id: 'afterwards' });
  const next = await execution(await resultOf('snapshot', 'afterwards'), toItsEnd);

  expect([begun, during].map(({ status }) => status)).toEqual(['RUNNING', 'RUNNING']);
  expect(ended).toMatchObject({
    status: 'SUCCEEDED',
    version: '1',
    result: { kind: 'published', records: RECORDS },
  });
  expect(next).toMatchObject({ status: 'SUCCEEDED', version: '2', result: { kind: 'published' } });
  const after = await configuration();
  expect([before, after]).toMatchObject([
    { version: '1', rate: '1000' },
    { version: '2', rate: '500' },
  ]);
  expect(after.code).not.toBe(before.code);
  expect(changes.filter(({ type }) => STATEFUL.test(type))).toEqual([]);
  expect(
    changes.filter(({ type, action }) => type === 'AWS::Lambda::Function' && action !== 'Modify'),
  ).toEqual([]);
}, 180_000);

/** The resource types whose content cannot be recreated. */
const STATEFUL = /^AWS::(S3::Bucket|DynamoDB::|SQS::Queue$|SNS::Topic|SecretsManager::|KMS::)/;

test('deleting the stack leaves the retained resources, and nothing else', async () => {
  const all = await deployer.made();
  const retained = (type: string) =>
    all
      .filter((each) => each.type === type && isRetained(each.id))
      .map(({ name }) => name)
      .sort();
  const [table] = retained('AWS::DynamoDB::Table');

  await timed('delete', () => deployer.delete());

  const { Functions } = await lambda.send(new ListFunctionsCommand({}));
  const { DatabaseList } = await glue.send(new GetDatabasesCommand({}));
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}));
  const buckets = Buckets.map(({ Name = '' }) => Name).filter((name) => !name.startsWith('cdk-'));
  const { Table } = await dynamoDb.send(new DescribeTableCommand({ TableName: table }));
  expect({ Functions, DatabaseList }).toEqual({ Functions: [], DatabaseList: [] });
  expect(QueueUrls.toSorted()).toEqual(retained('AWS::SQS::Queue'));
  expect(buckets.sort()).toEqual(retained('AWS::S3::Bucket'));
  expect(buckets).toHaveLength(2);
  expect(Table?.ItemCount).toBeGreaterThan(0);
  expect(await resultOf('run-function', 'adds')).toMatchObject({ status: 'done' });
}, 60_000);

const isRetained = (id: string): boolean =>
  /^Retain/.test(String(Object(updated.template.Resources[id]).DeletionPolicy));

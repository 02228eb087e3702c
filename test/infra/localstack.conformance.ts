import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Capability,
  CloudFormationClient,
  CreateChangeSetCommand,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeChangeSetCommand,
  DescribeStackEventsCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
  ExecuteChangeSetCommand,
  waitUntilChangeSetCreateComplete,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import {
  GetAliasCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  ListFunctionsCommand,
} from '@aws-sdk/client-lambda';
import { CreateBucketCommand, ListBucketsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSqsClient, createSqsQueue } from '../../lib/jobs/queue/sqs-queue.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { enginesOf } from '../base/aws/engines.ts';
import { createHandlerProcess } from '../local-aws/functions/create-handler-process.ts';
import { startEventSourceMapping } from '../local-aws/functions/event-source-mapping.ts';
import { ACCOUNT, credentials, REGION } from '../local-aws/identity.ts';
import { startGateway } from '../local-aws/services/gateway.ts';
import { createTables } from '../local-aws/services/start-dynamo-db.ts';
import { startExecutions } from '../local-aws/services/start-executions.ts';
import { startLambda } from '../local-aws/services/start-lambda.ts';
import { synthStack } from '../local-aws/stack/synth-stack.ts';
import { readStack, resourcesOf, type StackToRun } from '../local-aws/stack/template.ts';
import { linesOf } from '../run-program.ts';

/*
 * The stack as CloudFormation of somebody else makes it: what refers to what, in which order. What it does not do is done beside it, with what it has made: LocalStack runs functions in
 * Docker alone, so they run here, with the settings that it has computed; it does not start schedules, poll queues for
 * functions or know durable executions.
 */

const packageId = codePackages[0]?.id ?? '';
const instance = {
  name: 'there',
  baseUrl: 'https://deployed.invalid',
  tokenParameter: '/there/token',
  rate: 1_000,
  table: 'there-rows',
  schedules: [{ source: 'calculations', cron: '0 2 * * ? *', digest: true }, { source: 'cards' }],
  eventRules: [
    {
      name: 'uploads',
      pattern: { source: ['mine'] },
      packageId,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
    },
  ],
  alarms: { email: 'night@example.com' },
  readers: ['444455556666'],
};
const StackName = 'platform-sync-there';
const WAIT_SECONDS = 300;
const NOWHERE = { endpoint: '', python: '' };

const { localStack: { endpoint, python } = NOWHERE, dynamoDb: { endpoint: rowsAt } = NOWHERE } = enginesOf(
  process.env,
);
const config = { endpoint, region: REGION, credentials };
const running = new AsyncDisposableStack();
const clientOf = <T extends { destroy(): void }>(client: T): T => {
  running.defer(() => client.destroy());
  return client;
};
const cloudFormation = clientOf(new CloudFormationClient(config));
const lambda = clientOf(new LambdaClient(config));
const s3 = clientOf(new S3Client({ ...config, forcePathStyle: true }));
const sqs = clientOf(new SQSClient(config));
const ssm = clientOf(new SSMClient(config));

const ASSETS = `cdk-hnb659fds-assets-${ACCOUNT}-${REGION}`;
let platform: Sandbox;
let deployed: StackToRun;
let store: Store;
const logs: string[] = [];

/** Synthesizes, and uploads the template and the archives of the functions, as `cdk deploy` does. */
async function upload(of: object): Promise<{ readonly TemplateURL: string }> {
  const synthesized = running.use(await synthStack(of));
  deployed = await readStack(synthesized.folder);
  const put = (Key: string, Body: string | Buffer) =>
    s3.send(new PutObjectCommand({ Bucket: ASSETS, Key, Body }));
  for (const [key, folder] of deployed.assets) {
    // The template is an asset too.
    if (!key.endsWith('.zip')) continue;
    const archive = join(synthesized.folder, key);
    const files = (await readdir(folder)).map((file) => join(folder, file));
    await linesOf([python, '-m', 'zipfile', '-c', archive, ...files]);
    await put(key, await readFile(archive));
  }
  await put('template.json', JSON.stringify(deployed.template));
  return { TemplateURL: `${endpoint}/${ASSETS}/template.json` };
}

const Capabilities: Capability[] = ['CAPABILITY_IAM'];
const waiting = { client: cloudFormation, maxWaitTime: WAIT_SECONDS, minDelay: 1, maxDelay: 2 };

/** Of a service whose client is not among the packages: signatures are read, not checked. */
const SIGNED = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/20261127/${REGION}/scheduler/aws4_request, SignedHeaders=host, Signature=0`;

/** What failed, resource by resource: the error of a waiter says only that something did. */
async function withReasons(cause: unknown): Promise<never> {
  const { StackEvents = [] } = await cloudFormation.send(new DescribeStackEventsCommand({ StackName }));
  const reasons = StackEvents.filter(({ ResourceStatus = '' }) => ResourceStatus.endsWith('FAILED')).map(
    ({ LogicalResourceId, ResourceStatusReason }) => `${LogicalResourceId}: ${ResourceStatusReason}`,
  );
  throw new Error(reasons.join('\n'), { cause });
}

/** What there is of the stack, by logical ids. */
async function made() {
  const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
  return new Map(
    StackResources.map(({ LogicalResourceId: id = '', ...resource }) => [id, resource] as const),
  );
}

const nameOf = async (id: string) => (await made()).get(id)?.PhysicalResourceId ?? '';

async function output(name: string): Promise<string> {
  const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
  return Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue ?? '';
}

const idOf = (start: string, type: string) =>
  resourcesOf(deployed.template, type).find(([id]) => id.startsWith(start))?.[0] ?? '';

/** A function as the stack has it, by the beginning of its logical id. */
async function functionOf(start: string) {
  const FunctionName = await nameOf(idOf(start, 'AWS::Lambda::Function'));
  return lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
}

beforeAll(async () => {
  platform = running.use(await startPlatform({ calculations: 40, datasets: 4, cards: 12 }));
  await s3.send(new CreateBucketCommand({ Bucket: ASSETS }));
  const put = (Name: string, Value: string, Type: 'String' | 'SecureString') =>
    ssm.send(new PutParameterCommand({ Name, Value, Type }));
  await put('/cdk-bootstrap/hnb659fds/version', '21', 'String');
  await put('/there/token', platform.token, 'SecureString');
  // LocalStack would download its table: rows are in DynamoDB Local, as an earlier stack could have left them.
  await createTables(rowsAt, [instance.table]);
  await cloudFormation.send(new CreateStackCommand({ ...(await upload(instance)), StackName, Capabilities }));
  await waitUntilStackCreateComplete(waiting, { StackName }).catch(withReasons);
  running.use(await startFunctions());
  store = await openStore(await output('Store'), { s3: settings });
}, 600_000);

afterAll(() => running.disposeAsync());

/** The SDK's environment variables for the functions, which run here. */
let settings: Readonly<Record<string, string>> = {};

/** What LocalStack does not do: executions of Lambda are started and run here, and so are the workers. */
async function startFunctions(): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const snapshot = await functionOf('SnapshotsSnapshot');
  lambdaHere = started.use(await startLambda([snapshot.FunctionName ?? '']));
  executions = started.use(await startExecutions());
  const gateway = started.use(
    await startGateway({
      endpointOf(service, path) {
        if (/^\/[^/]+\/durable-executions\//.test(path)) return executions.endpoint;
        return { lambda: lambdaHere.endpoint, dynamodb: rowsAt }[service] ?? endpoint;
      },
    }),
  );
  settings = {
    AWS_ENDPOINT_URL: gateway.endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  const worker = await handlerOf('JobsRunJobs');
  const queueUrl = worker.environment['SYNC_QUEUE_URL'] ?? '';
  started.use(
    await startEventSourceMapping({
      ...worker,
      aws: { endpoint: gateway.endpoint, region: REGION, credentials },
      queueUrl,
      batchSize: 10,
      maximumConcurrency: 2,
    }),
  );
  return started.move();
}

let lambdaHere: Awaited<ReturnType<typeof startLambda>>;
let executions: Awaited<ReturnType<typeof startExecutions>>;

/** A function from its asset, with the settings that the stack has computed for it. */
async function handlerOf(start: string) {
  const { Environment, Timeout = 0, MemorySize = 0, FunctionName = '' } = await functionOf(start);
  const { [idOf(start, 'AWS::Lambda::Function')]: resource } = deployed.template.Resources;
  const { S3Key = '' } = (resource?.Properties['Code'] ?? {}) as { readonly S3Key?: string };
  return {
    file: join(deployed.assets.get(S3Key) ?? '', 'index.mjs'),
    functionName: FunctionName,
    environment: {
      ...Environment?.Variables,
      ...settings,
      PLATFORM_BASE_URL: platform.url,
    } as Readonly<Record<string, string>>,
    timeoutMs: Timeout * 1_000,
    memoryMb: MemorySize,
    onLog: (line: string) => void logs.push(line),
  };
}

/** Puts a message on the queue of jobs. */
async function send(body: string): Promise<void> {
  const queueUrl = await output('QueueUrl');
  const client = createSqsClient(queueUrl, settings);
  await createSqsQueue(queueUrl, client).send([body]);
  client.destroy();
}

/** An object whose key ends like this, once it is there. */
async function stored(prefix: string, ending: string) {
  for (let look = 0; look < 300; look += 1) {
    for await (const { key } of store.list(prefix))
      if (key.endsWith(ending)) return JSON.parse((await store.get(key))?.body.toString() ?? 'null');
    await delay(100);
  }
  throw new Error(`expected ${prefix}…${ending}; the functions said:\n${logs.slice(-20).join('\n')}`);
}

/** What LocalStack without a licence takes for made, and makes nothing of. cfn-lint checks their properties. */
const UNKNOWN = [
  'AWS::Athena::NamedQuery',
  'AWS::Athena::WorkGroup',
  'AWS::CloudWatch::Dashboard',
  'AWS::Glue::Database',
  'AWS::Glue::Table',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
];

test('every resource is made, but for those that LocalStack does not know', async () => {
  const all = [...(await made()).values()];
  const unknown = all.filter(({ PhysicalResourceId: id }) => id === 'unknown' || id === undefined);

  expect(all.map(({ ResourceStatus }) => ResourceStatus)).toEqual(all.map(() => 'CREATE_COMPLETE'));
  expect([...new Set(unknown.map(({ ResourceType }) => ResourceType))].sort()).toEqual(UNKNOWN);
  expect(all).toHaveLength(Object.keys(deployed.template.Resources).length);
});

test('a schedule’s message takes a snapshot', async () => {
  const id = idOf('Schedulescalculations', 'AWS::Scheduler::Schedule');
  const response = await fetch(
    `${endpoint}/schedules/${await nameOf(id)}?groupName=${await nameOf(idOf('SchedulesGroup', 'AWS::Scheduler::ScheduleGroup'))}`,
    { headers: { authorization: SIGNED } },
  );
  const { Target } = (await response.json()) as { Target: { Arn: string; Input: string } };

  await send(Target.Input.replaceAll('<aws.scheduler.scheduled-time>', '2026-11-27T02:00:00Z'));
  const result = await stored('results/snapshot/', '.json');

  const input = lambdaHere.executions.get(result.response.started);
  const process = running.use(createHandlerProcess(await handlerOf('SnapshotsSnapshot')));
  const { FunctionArn = '' } = await functionOf('SnapshotsSnapshot');
  const ended = await executions.run({
    arn: `${FunctionArn}:1/durable-execution/${result.response.started}/${randomUUID()}`,
    input: JSON.stringify(input),
    invoke: (event) => process.invoke(event),
  });
  expect(result.id).toBe('calculations.2026-11-27T02:00:00Z');
  expect(ended).toMatchObject({
    status: 'SUCCEEDED',
    result: { kind: 'published', records: 40, followers: [{ kind: 'published', place: 'cards' }] },
  });
}, 120_000);

test('a job on its queue has a result in its bucket', async () => {
  const job = { version: 1, type: 'run-function', id: 'adds', packageId, packageVersion: '1.0.0' };

  await send(JSON.stringify({ ...job, functionName: 'addNumbers', inputVariables: { first: 2, second: 3 } }));

  expect(await stored('results/run-function/', '/adds.json')).toMatchObject({
    status: 'done',
    response: { result: 5 },
  });
}, 120_000);

/** The types that hold what cannot be made again. */
const STATEFUL = /^AWS::(S3::Bucket|DynamoDB::|SQS::Queue$|SNS::Topic|SecretsManager::|KMS::)/;

test('an update changes functions where they are, and the alias shows the new version of one', async () => {
  const before = await functionOf('SnapshotsSnapshot');
  const ChangeSetName = 'slower';
  // As `cdk deploy` does it; code functions lose their queue with the last event rule.
  const update = await upload({ ...instance, rate: 500, eventRules: [] });
  const named = { StackName, ChangeSetName };

  await cloudFormation.send(new CreateChangeSetCommand({ ...update, ...named, Capabilities }));
  await waitUntilChangeSetCreateComplete(waiting, named);
  const { Changes = [] } = await cloudFormation.send(new DescribeChangeSetCommand(named));
  await cloudFormation.send(new ExecuteChangeSetCommand(named));
  await waitUntilStackUpdateComplete(waiting, { StackName }).catch(withReasons);

  const after = await functionOf('SnapshotsSnapshot');
  const { FunctionName } = after;
  const { FunctionVersion } = await lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }));
  expect(
    Changes.flatMap(
      ({ ResourceChange: { ResourceType = '', Action, Replacement, LogicalResourceId } = {} }) =>
        STATEFUL.test(ResourceType) ? [{ Action, Replacement, LogicalResourceId }] : [],
    ),
  ).toEqual([{ Action: 'Remove', LogicalResourceId: expect.stringMatching(/^JobsFunctionsQueue/) }]);
  expect([FunctionName, FunctionVersion]).toEqual([before.FunctionName, '2']);
  expect([before, after].map((each) => each.Environment?.Variables?.['PLATFORM_RATE'])).toEqual([
    '1000',
    '500',
  ]);
  const left = await made();
  expect([...left.values()].filter(({ ResourceStatus: status = '' }) => status.endsWith('FAILED'))).toEqual(
    [],
  );
  // The version of before is to be retained, and so are the executions that it has.
  expect([...left.keys()].filter((id) => deployed.template.Resources[id] === undefined)).toEqual([
    expect.stringMatching(/^SnapshotsSnapshotFunctionCurrentVersion/),
  ]);
  expect(await stored('results/run-function/', '/adds.json')).toMatchObject({ status: 'done' });
}, 120_000);

test('a deletion leaves what is to be retained, and nothing else', async () => {
  const all = await made();
  const bucketOf = (id: string) => all.get(idOf(id, 'AWS::S3::Bucket'))?.PhysicalResourceId;

  await cloudFormation.send(new DeleteStackCommand({ StackName }));
  await waitUntilStackDeleteComplete(waiting, { StackName }).catch(withReasons);

  const { Functions } = await lambda.send(new ListFunctionsCommand({}));
  const { QueueUrls } = await sqs.send(new ListQueuesCommand({}));
  const { Buckets = [] } = await s3.send(new ListBucketsCommand({}));
  expect({ Functions, QueueUrls }).toEqual({ Functions: [], QueueUrls: undefined });
  expect(Buckets.map(({ Name }) => Name).sort()).toEqual(
    [ASSETS, bucketOf('StorageAccessLogs'), bucketOf('StorageBucket')].sort(),
  );
  expect(await stored('results/run-function/', '/adds.json')).toMatchObject({ status: 'done' });
}, 120_000);

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { createS3Client } from '../../../lib/store/s3-client.ts';
import {
  type AwsOptions,
  type BucketOptions,
  type LocalAws,
  startAws,
} from '../../local-aws/services/start-aws.ts';
import { createTestQueues } from './create-test-queues.ts';
import { createTestTable } from './create-test-table.ts';
import { type Engines, enginesOf } from './engines.ts';

export type TestAws = LocalAws & {
  /** The real name of a requested bucket. On an engine, which many test files share, it has a random suffix. */
  bucket(name: string): string;
};

/**
 * Starts the local AWS with these buckets, queues and tables. The engines that the conformance runner names replace the
 * parts that they cover: there buckets and queues have random names, and tables are the caller's own, since DynamoDB
 * Local has one database for each access key.
 */
export async function startTestAws(options: AwsOptions = {}): Promise<TestAws> {
  const engines = enginesOf(process.env);
  const { buckets = [], queues = [], tables = [] } = options;
  await using started = new AsyncDisposableStack();
  const local = await startAws({
    seed: seedOf(process.env),
    ...options,
    buckets: engines.s3 === undefined ? buckets : [],
    queues: engines.sqs === undefined ? queues : [],
    tables: engines.dynamoDb === undefined ? tables : [],
  });
  started.defer(local.close);
  const credentials = credentialsOf(engines, local);
  const state = await mkdtemp(join(tmpdir(), 'state-'));
  started.defer(() => rm(state, { recursive: true, force: true }));
  const settings = { ...local.settings, ...settingsOf(engines, credentials), XDG_STATE_HOME: state };
  const named = new Map(
    buckets.map(nameOf).map((name) => [name, engines.s3 === undefined ? name : randomName(name)]),
  );
  if (engines.s3 !== undefined) {
    const keepsVersions = (bucket: BucketOptions) => typeof bucket !== 'string' && bucket.versioned === true;
    const versioned = buckets.filter((bucket) => engines.s3?.versioned || keepsVersions(bucket)).map(nameOf);
    await createBuckets(named, new Set(versioned), settings);
  }
  if (engines.dynamoDb !== undefined) for (const table of tables) await createTestTable(table, settings);
  const own = engines.sqs === undefined ? undefined : started.use(await createTestQueues(queues, settings));
  const running = started.move();
  return {
    ...local,
    credentials,
    settings,
    queueUrl: own?.url ?? local.queueUrl,
    bucket(name) {
      const found = named.get(name);
      if (found === undefined) throw new TypeError(`expected one of ${[...named.keys()]}, got ${name}`);
      return found;
    },
    close: () => running.disposeAsync(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** `AWS_SEED`, the seed of the local AWS's random faults. It is fixed if the variable is not set. */
function seedOf({ AWS_SEED: seed = '1' }: Readonly<Record<string, string | undefined>>): number {
  if (!/^\d{1,9}$/.test(seed)) throw new TypeError(`AWS_SEED: expected up to 9 digits, got ${seed}`);
  return Number(seed);
}

const nameOf = (bucket: BucketOptions): string => (typeof bucket === 'string' ? bucket : bucket.name);

const randomName = (name: string): string => `${name}-${randomBytes(6).toString('hex')}`;

/** The credentials that the S3 engine checks; otherwise new ones, so that the tables are in a database of their own. */
function credentialsOf({ s3, dynamoDb }: Engines, local: LocalAws): LocalAws['credentials'] {
  if (s3 !== undefined) return s3;
  if (dynamoDb === undefined) return local.credentials;
  return { accessKeyId: randomBytes(10).toString('hex'), secretAccessKey: 'any' };
}

const settingsOf = (
  { s3, dynamoDb, sqs }: Engines,
  { accessKeyId, secretAccessKey }: LocalAws['credentials'],
): Readonly<Record<string, string>> => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  ...(s3 === undefined ? {} : { AWS_ENDPOINT_URL_S3: s3.endpoint }),
  ...(dynamoDb === undefined ? {} : { AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint }),
  ...(sqs === undefined ? {} : { AWS_ENDPOINT_URL_SQS: sqs.endpoint }),
});

async function createBuckets(
  named: ReadonlyMap<string, string>,
  versioned: ReadonlySet<string>,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const client = createS3Client(settings);
  for (const [name, Bucket] of named) {
    await client.send(new CreateBucketCommand({ Bucket }));
    if (!versioned.has(name)) continue;
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
  }
  client.destroy();
}

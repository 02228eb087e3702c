import { buildApp } from 'fauxqs';
import { createLayer, type OffRules } from '../documented/layer.ts';
import type { Ask } from '../documented/rule.ts';
import { demandEncryption } from '../documented/s3/encryption.ts';
import { serveLayer } from '../documented/serve-layer.ts';
import { askFauxqs, askServer, type FauxqsApp } from '../documented/stand-ins.ts';
import { ACCOUNT, credentials, REGION } from '../identity.ts';
import { createQueue, type QueueOptions } from './create-queue.ts';
import { createTables, startDynamoDb } from './start-dynamo-db.ts';

/** A bucket, by its name or with options: versioning, and the encryption that its policy requires. */
export type BucketOptions =
  | string
  | {
      readonly name: string;
      readonly versioned?: boolean;
      readonly demands?: { readonly algorithm: string; readonly key?: string };
    };

/** The resources that are created at the start, and how the local AWS behaves. */
export type AwsOptions = {
  readonly buckets?: readonly BucketOptions[];
  readonly queues?: readonly QueueOptions[];
  /** The names of tables. Their keys are `pk` and `sk`, both strings. */
  readonly tables?: readonly string[];
  /** Default: a free port. */
  readonly port?: number;
  /** The seed of occasional failures. Default: 1. */
  readonly seed?: number;
  /** Rules of AWS that are off, each with the reason. */
  readonly off?: OffRules;
  /** The replacement for dynalite, which has one database for each access key: here all signers share one. */
  readonly dynamoDb?: { readonly endpoint: string; readonly accessKeyId: string } | undefined;
  /** The clock of the rules, in epoch milliseconds. Default: the machine's. */
  readonly now?: () => number;
};

export type LocalAws = {
  /** `http://127.0.0.1:PORT`, for all three services. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The SDK's environment variables for all of these services, for `createS3Client` or another process. */
  readonly settings: Readonly<Record<string, string>>;
  /** The URL of a queue that was created at the start; throws for an unknown name. */
  queueUrl(name: string): string;
  close(): Promise<void>;
} & AsyncDisposable;

/**
 * Starts S3 and SQS (fauxqs) and DynamoDB (dynalite) in this process's memory, on one loopback port; nothing remains
 * after `close`. The rules of docs/local-aws.md add AWS's limits and documented weaknesses. Any credentials are
 * accepted. Requests to S3 may have at most 11 MiB, parts of an upload at most 10 MiB. A long poll of a queue must not
 * be aborted: it would hide the next message for one visibility timeout. Throws if a name is not valid in AWS, a
 * dead-letter queue is not among the queues, or the port is taken.
 */
export async function startAws(options: AwsOptions = {}): Promise<LocalAws> {
  const { buckets = [], queues = [], tables = [], port = 0, seed = 1, off, now = Date.now } = options;
  checkDeadLetters(queues);
  await using started = new AsyncDisposableStack();
  const app = buildApp({ logger: false, defaultRegion: REGION });
  started.defer(async () => void (await app.close()));
  const startRows = async () => {
    const { endpoint, close } = await startDynamoDb([]);
    started.defer(close);
    return { endpoint, accessKeyId: credentials.accessKeyId };
  };
  const { endpoint: rowsAt, accessKeyId } = options.dynamoDb ?? (await startRows());
  await createTables(rowsAt, tables, accessKeyId);
  const fauxqs = askFauxqs(app);
  const rows = askServer(rowsAt, accessKeyId);
  started.defer(rows.close);
  const ask = createLayer({ standIns: { s3: fauxqs, sqs: fauxqs, dynamodb: rows.ask }, seed, off, now });
  for (const bucket of buckets) await createBucket(app, ask, bucket);
  for (const queue of queues) await createQueue(app, queue);
  const demanded = new Map(
    buckets.flatMap((bucket) =>
      typeof bucket === 'string' || bucket.demands === undefined
        ? []
        : [[bucket.name, bucket.demands] as const],
    ),
  );
  const { endpoint, close } = await serveLayer(demandEncryption(demanded, ask), port);
  started.defer(close);
  const running = started.move();
  return {
    ...describe(endpoint, new Set(queues.map(({ name }) => name))),
    close: () => running[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

function checkDeadLetters(queues: readonly QueueOptions[]): void {
  const names = new Set(queues.map(({ name }) => name));
  for (const { name, deadLetter } of queues)
    if (deadLetter !== undefined && !names.has(deadLetter.queue))
      throw new TypeError(
        `create the queue ${name}: expected a dead-letter queue among the queues, got ${deadLetter.queue}`,
      );
}

async function createBucket(app: FauxqsApp, ask: Ask, bucket: BucketOptions): Promise<void> {
  const { name, versioned = false } = typeof bucket === 'string' ? { name: bucket } : bucket;
  const path = `/${encodeURIComponent(name)}`;
  const response = await app.inject({ method: 'PUT', url: path });
  if (response.statusCode !== 200)
    throw new Error(`create the bucket ${name}: ${response.statusCode} ${response.body}`);
  if (versioned) await enableVersioning(ask, path);
}

async function enableVersioning(ask: Ask, path: string): Promise<void> {
  const { status } = await ask({
    service: 's3',
    operation: 'PutBucketVersioning',
    method: 'PUT',
    path,
    query: new URLSearchParams('versioning'),
    headers: {},
    body: Buffer.from('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'),
  });
  // Any request may occasionally fail.
  if (status !== 200) await enableVersioning(ask, path);
}

const describe = (endpoint: string, queues: ReadonlySet<string>) => ({
  endpoint,
  region: REGION,
  credentials,
  settings: {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  },
  // The URL that fauxqs returns is not used, since its host does not resolve.
  queueUrl: (name: string): string => {
    if (!queues.has(name)) throw new TypeError(`expected one of the queues ${[...queues]}, got ${name}`);
    return `${endpoint}/${ACCOUNT}/${name}`;
  },
});

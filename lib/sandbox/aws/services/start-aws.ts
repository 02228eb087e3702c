import { buildApp } from 'fauxqs';
import { ACCOUNT, credentials, REGION } from '../identity.ts';
import { addConditionalWrites, type FauxqsApp } from './conditional-writes.ts';
import { createQueue, type QueueOptions } from './create-queue.ts';
import { addListingOrder } from './listing-order.ts';
import { startDynamoDb } from './start-dynamo-db.ts';

/**
 * What is created at the start. A table has the keys `pk` and `sk`, both strings. `port` is the port of S3 and SQS, a
 * free one if absent; DynamoDB always uses a free one.
 */
export type AwsOptions = {
  readonly buckets?: readonly string[];
  readonly queues?: readonly QueueOptions[];
  readonly tables?: readonly string[];
  readonly port?: number;
};

export type LocalAws = {
  /** `http://127.0.0.1:PORT`, for S3 and SQS. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The SDK's environment variables for all of these services, for `createS3Client` or another process. */
  readonly settings: Readonly<Record<string, string>>;
  /** The URL of a queue that was created at the start; throws if there is none with that name. */
  queueUrl(name: string): string;
  close(): Promise<void>;
} & AsyncDisposable;

/**
 * S3 and SQS by fauxqs and DynamoDB by dynalite, in this process's memory, on loopback only; nothing remains after
 * `close`. Any credentials will do. Requests to S3 may have at most 11 MiB, parts of an upload at most 10 MiB. A long
 * poll of a queue must not be aborted: it would hide the next message for one visibility timeout. Throws if a name is
 * not valid in AWS, a dead-letter queue is not among the queues, or the port is taken.
 */
export async function startAws(options: AwsOptions = {}): Promise<LocalAws> {
  const { buckets = [], queues = [], tables = [], port = 0 } = options;
  checkDeadLetters(queues);
  await using started = new AsyncDisposableStack();
  const app = buildApp({ logger: false, defaultRegion: REGION });
  started.defer(async () => void (await app.close()));
  addConditionalWrites(app);
  addListingOrder(app);
  for (const bucket of buckets) await createBucket(app, bucket);
  for (const queue of queues) await createQueue(app, queue);
  // fauxqs's own start function listens on all addresses.
  const endpoint = await app.listen({ host: '127.0.0.1', port });
  const dynamoDb = await startDynamoDb(tables);
  started.defer(dynamoDb.close);
  const running = started.move();
  return {
    ...describe(endpoint, dynamoDb.endpoint, new Set(queues.map(({ name }) => name))),
    close: () => running.disposeAsync(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
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

async function createBucket(app: FauxqsApp, bucket: string): Promise<void> {
  const response = await app.inject({ method: 'PUT', url: `/${encodeURIComponent(bucket)}` });
  if (response.statusCode !== 200)
    throw new Error(`create the bucket ${bucket}: ${response.statusCode} ${response.body}`);
}

const describe = (endpoint: string, dynamoDbEndpoint: string, queues: ReadonlySet<string>) => ({
  endpoint,
  region: REGION,
  credentials,
  settings: {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDbEndpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  },
  // Not the URL that fauxqs returns: its host does not resolve.
  queueUrl: (name: string): string => {
    if (!queues.has(name)) throw new TypeError(`expected one of the queues ${[...queues]}, got ${name}`);
    return `${endpoint}/${ACCOUNT}/${name}`;
  },
});

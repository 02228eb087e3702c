import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { openQueue } from '../../../lib/jobs/queue/open-queue.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { sqlitePath, withDefaultLocations } from '../../../lib/locations.ts';
import type { BudgetItem } from '../../../lib/pace/budget.ts';
import { openBudget } from '../../../lib/pace/stored-budget.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createDynamoTable } from '../../../lib/table/dynamo-table.ts';
import { sqliteFile } from '../../../lib/table/sqlite-file.ts';
import { createSqliteTable } from '../../../lib/table/sqlite-table.ts';

import type { Table } from '../../../lib/table/table.ts';
import { startTestAws } from '../../base/aws/start-test-aws.ts';
import type { ServiceName } from './plan.ts';
import { nameOfRow } from './witness.ts';

/** The services of a storm. The storm's own clients do not go through the faulty proxies. */
type Grounds = AsyncDisposable & {
  readonly settings: Readonly<Record<string, string>>;
  /** The addresses behind the faulty proxies, by service; a service that is missing here has no proxy. */
  readonly targets: Readonly<Partial<Record<Exclude<ServiceName, 'platform'>, string>>>;
  /** The settings of one worker, with the addresses of its proxies. */
  readonly workerSettings: (
    worker: number,
    proxies: Readonly<Partial<Record<ServiceName, string>>>,
  ) => Readonly<Record<string, string>>;
  readonly table: Table;
  readonly store: Store;
  readonly queue: Queue;
  readonly dead: Queue;
  readonly budget: (host: string) => Promise<BudgetItem>;
  readonly send: (body: string) => Promise<string>;
  /** The jobs and texts whose rows in state SENT this worker wrote. Undefined if rows do not name their writer. */
  readonly sentBy?: (worker: number) => Promise<readonly string[]>;
};

/** The worker whose clock is three minutes ahead of all others. In a folder, all processes share one clock. */
const FAST_WORKER = 2;
const FAST_MS = 180_000;

export const workerName = (worker: number) => `worker${worker}`;

async function startAwsGrounds(): Promise<Grounds> {
  await using started = new AsyncDisposableStack();
  const aws = started.use(
    await startTestAws({
      buckets: ['jobs'],
      queues: [
        { name: 'jobs', visibilitySeconds: 3, deadLetter: { queue: 'dead', maxReceiveCount: 1_000 } },
        { name: 'dead' },
      ],
      tables: ['ledger'],
      off: { 'sqs-loses-responses': 'a message without an id that is sent twice is two jobs' },
    }),
  );
  const QueueUrl = aws.queueUrl('jobs');
  const sqs = createSqsClient(QueueUrl, aws.settings);
  started.defer(() => sqs.destroy());
  const shared = { ...aws.settings, SYNC_STORE: `s3://${aws.bucket('jobs')}`, SYNC_TABLE: 'ledger' };
  const running = started.move();
  return {
    settings: shared,
    targets: { dynamodb: aws.endpoint, s3: aws.endpoint, sqs: aws.endpoint },
    workerSettings: (worker, proxies) => ({
      ...shared,
      AWS_ENDPOINT_URL_DYNAMODB: proxies.dynamodb ?? '',
      AWS_ENDPOINT_URL_S3: proxies.s3 ?? '',
      AWS_ENDPOINT_URL_SQS: proxies.sqs ?? '',
      AWS_ACCESS_KEY_ID: workerName(worker),
      SYNC_QUEUE_URL: QueueUrl.replace(aws.endpoint, proxies.sqs ?? ''),
      ...(worker === FAST_WORKER ? { STORM_CLOCK_MS: String(FAST_MS) } : {}),
    }),
    table: createDynamoTable({ tableName: 'ledger', environment: aws.settings }),
    store: await openStore(shared.SYNC_STORE, { s3: aws.settings }),
    queue: createSqsQueue(QueueUrl, sqs),
    dead: createSqsQueue(aws.queueUrl('dead'), sqs),
    budget: (host) => openBudget({ table: 'ledger', host, environment: aws.settings, attempts: 5 }),
    async send(MessageBody) {
      const { MessageId = '' } = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
      return MessageId;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Delay of a new message. It gives the time to read its id before a worker can replace it. */
const DELAY_MS = 200;

async function startFolder(): Promise<Grounds> {
  const folder = await mkdtemp(join(tmpdir(), 'storm-'));
  const { SYNC_TABLE: location = '' } = withDefaultLocations({ SYNC_STORE: folder });
  const settings = { SYNC_STORE: folder, SYNC_TABLE: location, SYNC_QUEUE_URL: location };
  const file = sqliteFile(sqlitePath(location) ?? '');
  const queue = await openQueue(location, settings);
  const seen = new Set<string>();
  return {
    settings,
    targets: {},
    workerSettings: (worker) => ({ ...settings, STORM_WORKER: workerName(worker) }),
    table: createSqliteTable(file),
    store: await openStore(folder, { s3: {} }),
    queue,
    dead: await openQueue(location, settings, 'dead'),
    budget: (host) => openBudget({ table: location, host, environment: settings }),
    async send(body) {
      await queue.send([body], { delayMs: DELAY_MS });
      const found = await file.read('look for a message', (db) =>
        db.prepare('SELECT id FROM messages WHERE body = ?').all(body),
      );
      const id = found?.map((each) => String(each['id'])).find((each) => !seen.has(each)) ?? '';
      seen.add(id);
      return id;
    },
    async sentBy(worker) {
      const rows = await file.read('look for what was sent', (db) =>
        db.prepare(SENT_BY).all(workerName(worker)),
      );
      return (rows ?? []).flatMap(({ pk, row }) => nameOfRow(String(pk), String(row)) ?? []);
    },
    async [Symbol.asyncDispose]() {
      file.close();
      // A worker that is being killed may still write.
      await delay(DELAY_MS);
      await rm(folder, { recursive: true });
    },
  };
}

/** Selects the rows that a worker wrote. Each worker stores the name by which rows refer to it. */
const SENT_BY = `SELECT pk, row FROM rows WHERE writer = (SELECT value FROM facts WHERE name = ?)
  AND json_extract(row, '$.state') = 'SENT'`;

export const grounds = { AWS: startAwsGrounds, 'a folder': startFolder } as const;
export type Engine = keyof typeof grounds;

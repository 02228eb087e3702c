import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import { hasEnded } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { splitBatch } from '../../../lib/jobs/texts/batch/split-batch.ts';
import { createScoreCache } from '../../../lib/jobs/texts/cache/score-cache.ts';
import { createBudgetClient, createDynamoBudget } from '../../../lib/pace/dynamo-budget.ts';
import { effectiveRate } from '../../../lib/pace/effective-rate.ts';
import { randomFor } from '../../../lib/sandbox/platform/records/random.ts';
import { type Sandbox, startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../../lib/store/open.ts';
import { createDynamoTable } from '../../../lib/table/dynamo-table.ts';
import { startTestAws } from '../../base/aws/start-test-aws.ts';
import { type After, MINUTE_MS, readAfter } from './after.ts';
import { type FaultyProxy, type ProxiedRequest, startFaultyProxy } from './faulty-proxy.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { batchTexts, type StormJob, stormJobs } from './jobs.ts';
import type { ServiceName, StormEvent, StormPlan } from './plan.ts';
import { createTimeline } from './timeline.ts';
import { type ActiveSpell, treatmentOf } from './treatments.ts';
import { createWitness } from './witness.ts';

export type StormOptions = {
  readonly jobs: number;
  /** Chunks of the batch, of 100 rows each. */
  readonly chunks: number;
  /** Requests a second of the fleet. */
  readonly rate: number;
  /** Longer delays on the queue are cut to this. */
  readonly mostDelayMs: number;
  /** How much longer than an attempt a text is held. */
  readonly spareMs: number;
  /** How long after the last fault it is waited for all jobs to end. */
  readonly recoverMs: number;
};

const BATCH = 'storm';

/** This worker's clock is three minutes ahead. */
const FAST_WORKER = 2;
const FAST_MS = 180_000;

/** Runs a storm over jobs of all kinds, and reads what is there when all have ended, or the time is over. */
export async function runStorm(plan: StormPlan, options: StormOptions): Promise<After> {
  await using stack = new AsyncDisposableStack();
  const platform = stack.use(await startPlatform({ calculations: 200, dataFiles: 20, latencyMs: 150 }));
  const aws = stack.use(
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
  const witness = createWitness();
  const active = new Set<ActiveSpell>();
  const startProxy = async (service: ServiceName, target: string) => {
    const random = randomFor(plan.seed, `requests to ${service}`);
    const hooks =
      service === 'platform'
        ? { onExchange: witness.platform }
        : service === 'dynamodb'
          ? { onReply: witness.replied }
          : {};
    const treat = (request: ProxiedRequest) => {
      if (service === 'dynamodb') witness.asked(request);
      return treatmentOf(
        request,
        [...active].filter((spell) => spell.service === service),
        random,
      );
    };
    return stack.use(await startFaultyProxy({ target, treat, ...hooks }));
  };
  const proxies: Readonly<Record<ServiceName, FaultyProxy>> = {
    platform: await startProxy('platform', platform.url),
    dynamodb: await startProxy('dynamodb', aws.endpoint),
    s3: await startProxy('s3', aws.endpoint),
    sqs: await startProxy('sqs', aws.endpoint),
  };
  const shared = {
    PLATFORM_BASE_URL: proxies.platform.url,
    PLATFORM_TOKEN: platform.token,
    PLATFORM_RATE: String(options.rate),
    PLATFORM_CONCURRENCY: '10',
    PLATFORM_TIMEOUT_MS: '3000',
    SYNC_STORE: `s3://${aws.bucket('jobs')}`,
    SYNC_TABLE: 'ledger',
  };
  const environment = (worker: number) => ({
    ...aws.settings,
    ...shared,
    AWS_ENDPOINT_URL_DYNAMODB: proxies.dynamodb.url,
    AWS_ENDPOINT_URL_S3: proxies.s3.url,
    AWS_ENDPOINT_URL_SQS: proxies.sqs.url,
    AWS_ACCESS_KEY_ID: workerName(worker),
    SYNC_QUEUE_URL: aws.queueUrl('jobs').replace(aws.endpoint, proxies.sqs.url),
    STORM_LEASE_MS: String(plan.leaseMs),
    STORM_DELAY_MS: String(options.mostDelayMs),
    STORM_SPARE_MS: String(options.spareMs),
    ...(worker === FAST_WORKER ? { STORM_CLOCK_MS: String(FAST_MS) } : {}),
  });

  // What the storm itself uses meets no faults but those of AWS.
  const sqs = createSqsClient(aws.queueUrl('jobs'), aws.settings);
  stack.defer(() => sqs.destroy());
  const table = createDynamoTable({ tableName: 'ledger', environment: aws.settings });
  const store = await openStore(shared.SYNC_STORE, { s3: aws.settings });
  const queue = createSqsQueue(aws.queueUrl('jobs'), sqs);
  const { host } = new URL(proxies.platform.url);
  const ids = new Map<string, StormJob>();
  const sent: string[] = [];
  const send = async (job: StormJob) => {
    const MessageBody = JSON.stringify(job.body);
    const QueueUrl = aws.queueUrl('jobs');
    const { MessageId = '' } = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
    ids.set(job.body.id ?? MessageId, job);
    if (job.body.id === undefined) return;
    sent.push(MessageBody);
    // Two workers have these at once: what may be repeated is done again where the lease does not count.
    if (job.mayRepeat) await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  };
  const texts = batchTexts(options.chunks);
  const sendBatch = async () => {
    const writing = { table, newToken: randomUUID, now: Date.now };
    await splitBatch(
      {
        batch: BATCH,
        request: {},
        host,
        async *rows() {
          for (const [index, text] of texts.entries())
            yield { line: index + 1, id: `${index}`, text, columns: {} };
        },
      },
      {
        store,
        ...writing,
        cache: createScoreCache({ ...writing, host, owner: 'storm', attemptMs: 3_000 }),
        rate: options.rate,
        async send(messages) {
          for (const message of messages)
            await send({
              body: message,
              subjects: message.texts.map(({ text }) => `text:${text}`),
              mayRepeat: true,
            });
        },
      },
    );
  };

  const jobs = stormJobs(options.jobs, platform);
  const [early, late] = [jobs.slice(0, jobs.length / 2), jobs.slice(jobs.length / 2)];
  for (const job of early) await send(job);
  await sendBatch();
  const fleet = stack.use(startFleet({ workers: plan.workers, environment }));
  const atStart = Date.now();
  while (platform.counts().requests < 5 && Date.now() - atStart < 60_000) await delay(20);

  const scene: Scene = {
    proxies,
    active,
    fleet,
    struck: (worker) => witness.struck(workerName(worker)),
    broken: witness.broken,
  };
  const resend = async (messages: number, random: ReturnType<typeof randomFor>) =>
    queue.send(Array.from({ length: messages }, () => random.pick(sent)));
  const startedAt = Date.now();
  const happening = plan.events.map(async (event, index) => {
    await delay(event.atMs);
    if (event.kind === 'duplicates') await resend(event.messages, randomFor(plan.seed, 'resent', index));
    else await happen(event, scene);
  });
  const sending = late.map(async (job, index) => {
    await delay((index / late.length) * plan.seconds * 1_000);
    await send(job);
  });
  await Promise.all([...happening, ...sending]);
  const calmAt = Date.now();
  const ended = (await Array.fromAsync(createLedger({ table }).list())).filter(hasEnded);
  const backlog = ids.size - ended.length;
  const chunkJobs = Math.ceil(new Set(texts).size / TEXTS_OF_A_JOB);

  const item = createDynamoBudget({
    tableName: 'ledger',
    host,
    environment: aws.settings,
    client: createBudgetClient(aws.settings, 5),
  });
  const dead = createSqsQueue(aws.queueUrl('dead'), sqs);
  const readNow = async (): Promise<After> => {
    const budget = await item.read();
    return readAfter({
      jobs: ids,
      batchTexts: texts,
      ledger: createLedger({ table }),
      store,
      counts: platform.counts(),
      witness,
      queues: [await queue.counts(), await dead.counts()],
      rateShare: effectiveRate(options.rate, budget.lowered, Date.now()) / options.rate,
      ends: fleet.ends(),
      stormMs: calmAt - startedAt,
      recoveredMs: Date.now() - calmAt,
      backlog,
    });
  };
  const ledger = createLedger({ table });
  const watch = createTimeline({ calmAt, jobs: ids, ledger, queue, item, counts: platform.counts });
  for (;;) {
    await watch();
    // Reading everything costs the workers their time: only once the queue is empty.
    if ((await waiting(queue)) === 0 || Date.now() - calmAt > options.recoverMs) {
      const after = await readNow();
      if (after.open.length === 0 && after.recoveredMs > MINUTE_MS)
        return {
          ...after,
          calmBacklogMs: await timeInCalm(backlog + chunkJobs, { platform, queue, ledger }),
        };
      if (after.open.length === 0 || after.recoveredMs > options.recoverMs) return after;
    }
    await delay(300);
  }
}

async function waiting(queue: Pick<Queue, 'counts'>): Promise<number> {
  const counts = await queue.counts();
  return counts.waiting + counts.inFlight + counts.delayed;
}

type CalmParts = {
  readonly platform: Sandbox;
  readonly queue: Pick<Queue, 'send' | 'counts'>;
  readonly ledger: Pick<Ledger, 'list'>;
};

/** How long the same workers take for so many new jobs while nothing is injected, in milliseconds. */
async function timeInCalm(jobs: number, { platform, queue, ledger }: CalmParts): Promise<number> {
  // Those that may be repeated come twice, as in the storm.
  const bodies = stormJobs(jobs, platform, FIRST_IN_CALM).flatMap(({ body, mayRepeat }, index) => {
    const message = JSON.stringify({ ...body, id: `calm-${index}` });
    return mayRepeat ? [message, message] : [message];
  });
  const startedAt = Date.now();
  await queue.send(bodies);
  for (;;) {
    await delay(300);
    if ((await waiting(queue)) > 0) continue;
    const rows = await Array.fromAsync(ledger.list());
    if (rows.filter((row) => row.id.startsWith('calm-') && hasEnded(row)).length === jobs)
      return Date.now() - startedAt;
  }
}

/** A chunk's texts are about as much work as so many fewer jobs of kinds that take one request and three. */
const TEXTS_OF_A_JOB = 2;

/** The number of the first job in calm: texts and inputs that no job of the storm has. */
const FIRST_IN_CALM = 1_000_000;

const workerName = (worker: number) => `worker${worker}`;

type Scene = {
  readonly proxies: Readonly<Record<ServiceName, FaultyProxy>>;
  readonly active: Set<ActiveSpell>;
  readonly fleet: Fleet;
  readonly struck: (worker: number) => void;
  /** The platform's connections are about to break. */
  readonly broken: () => void;
};

/** One fault, from its beginning to its end. */
async function happen(
  event: Exclude<StormEvent, { readonly kind: 'duplicates' }>,
  { proxies, active, fleet, struck, broken }: Scene,
): Promise<void> {
  switch (event.kind) {
    case 'kill':
      await fleet.kill(event.worker);
      return struck(event.worker);
    case 'stop': {
      const stopped = fleet.stop(event.worker, event.forMs);
      struck(event.worker);
      return stopped;
    }
    case 'spell': {
      const over = new AbortController();
      const spell: ActiveSpell = { ...event, over: over.signal };
      active.add(spell);
      if (spell.spell === 'refused') {
        if (spell.service === 'platform') broken();
        await proxies[spell.service].refuse();
      }
      await delay(event.forMs);
      if (spell.spell === 'refused') await proxies[spell.service].accept();
      active.delete(spell);
      return over.abort();
    }
    default:
      return event satisfies never;
  }
}

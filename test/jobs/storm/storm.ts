import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createLedger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import { splitBatch } from '../../../lib/jobs/texts/batch/score-file.ts';
import { createScoreCache } from '../../../lib/jobs/texts/cache/score-cache.ts';
import { effectiveRate } from '../../../lib/pace/budget.ts';
import { randomFor } from '../../../lib/sandbox/platform/records/random.ts';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { type After, readAfter } from './after.ts';
import { type FaultyProxy, type ProxiedRequest, startFaultyProxy } from './faulty-proxy.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type Engine, grounds, workerName } from './grounds.ts';
import { batchTexts, type StormJob, stormJobs } from './jobs.ts';
import type { ServiceName, StormEvent, StormPlan } from './plan.ts';
import { type ActiveFault, treatmentOf } from './treatments.ts';
import { createWitness } from './witness.ts';

export type StormOptions = {
  readonly engine: Engine;
  readonly jobs: number;
  /** Chunks of the batch, of 100 rows each. */
  readonly chunks: number;
  /** Of each `of` rows of a chunk, `own` have a text that no other chunk has. */
  readonly ownTexts: readonly [own: number, of: number];
  /** Requests a second of the fleet. */
  readonly rate: number;
  /** Maximum delay on the queue; longer ones are cut to this. */
  readonly maxDelayMs: number;
  /** How much longer than one attempt a text is held. */
  readonly spareMs: number;
  /** How long to wait for all jobs to end after the last fault. */
  readonly recoverMs: number;
};

const BATCH = 'storm';

/** Runs a storm over jobs of all kinds. Returns the state once all have ended, or the time is over. */
export async function runStorm(plan: StormPlan, options: StormOptions): Promise<After> {
  await using stack = new AsyncDisposableStack();
  const platform = stack.use(await startPlatform({ calculations: 200, dataFiles: 20, latencyMs: 150 }));
  const place = stack.use(await grounds[options.engine]());
  const { table, store, queue, dead } = place;
  const witness = createWitness();
  const active = new Set<ActiveFault>();
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
      if (service === 'platform') witness.arrived(performance.now());
      return treatmentOf(
        request,
        [...active].filter((fault) => fault.service === service),
        random,
      );
    };
    return stack.use(await startFaultyProxy({ target, treat, ...hooks }));
  };
  const toPlatform = await startProxy('platform', platform.url);
  const proxies: Partial<Record<ServiceName, FaultyProxy>> = { platform: toPlatform };
  for (const [service, target] of Object.entries(place.targets))
    proxies[service as ServiceName] = await startProxy(service as ServiceName, target);
  const urls = Object.fromEntries(Object.entries(proxies).map(([service, { url }]) => [service, url]));
  const environment = (worker: number) => ({
    ...place.workerSettings(worker, urls),
    PLATFORM_BASE_URL: toPlatform.url,
    PLATFORM_TOKEN: platform.token,
    PLATFORM_RATE: String(options.rate),
    PLATFORM_CONCURRENCY: '10',
    PLATFORM_TIMEOUT_MS: '3000',
    STORM_LEASE_MS: String(plan.leaseMs),
    STORM_DELAY_MS: String(options.maxDelayMs),
    STORM_SPARE_MS: String(options.spareMs),
  });

  const { host } = new URL(toPlatform.url);
  const ids = new Map<string, StormJob>();
  const sent: string[] = [];
  const send = async (job: StormJob) => {
    const body = JSON.stringify(job.body);
    const messageId = await place.send(body);
    ids.set(job.body.id ?? messageId, job);
    if (job.body.id === undefined) return;
    sent.push(body);
    // A job that may be repeated is sent twice, so that two workers have it at the same time: without the lease it
    // would run twice.
    if (job.mayRepeat) await queue.send([body]);
  };
  const texts = batchTexts(options.chunks, ...options.ownTexts);
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
    async struck(worker) {
      witness.struck(workerName(worker), (await place.sentBy?.(worker)) ?? []);
    },
    broken: witness.broken,
  };
  const resend = async (messages: number, random: ReturnType<typeof randomFor>) =>
    queue.send(Array.from({ length: messages }, () => random.pick(sent)));
  const happening = plan.events.map(async (event, index) => {
    await delay(event.atMs);
    if (event.kind === 'duplicates') await resend(event.messages, randomFor(plan.seed, 'resent', index));
    else await causeFault(event, scene);
  });
  const sending = late.map(async (job, index) => {
    await delay((index / late.length) * plan.seconds * 1_000);
    await send(job);
  });
  await Promise.all([...happening, ...sending]);
  const calmAt = Date.now();
  const item = await place.budget(host);
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
      rate: options.rate,
      rateShare: effectiveRate(options.rate, budget, Date.now()) / options.rate,
      ends: fleet.ends(),
      recoveredMs: Date.now() - calmAt,
    });
  };
  for (;;) {
    // Reading everything slows the workers down, so it is done only when the queue is empty.
    if ((await waiting(queue)) === 0 || Date.now() - calmAt > options.recoverMs) {
      const after = await readNow();
      if (after.open.length === 0 || after.recoveredMs > options.recoverMs) return after;
    }
    await delay(300);
  }
}

async function waiting(queue: Pick<Queue, 'counts'>): Promise<number> {
  const counts = await queue.counts();
  return counts.waiting + counts.inFlight + counts.delayed;
}

type Scene = {
  readonly proxies: Readonly<Partial<Record<ServiceName, FaultyProxy>>>;
  readonly active: Set<ActiveFault>;
  readonly fleet: Fleet;
  readonly struck: (worker: number) => Promise<void>;
  /** Called before the platform's connections break. */
  readonly broken: () => void;
};

/** Causes one fault, and ends it. */
async function causeFault(
  event: Exclude<StormEvent, { readonly kind: 'duplicates' }>,
  { proxies, active, fleet, struck, broken }: Scene,
): Promise<void> {
  switch (event.kind) {
    case 'kill':
      return fleet.kill(event.worker, () => struck(event.worker));
    case 'stop':
      return fleet.stop(event.worker, event.forMs, () => struck(event.worker));
    case 'fault': {
      const over = new AbortController();
      const fault: ActiveFault = { ...event, over: over.signal };
      active.add(fault);
      if (fault.fault === 'refused') {
        if (fault.service === 'platform') broken();
        await proxies[fault.service]?.refuse();
      }
      await delay(event.forMs);
      if (fault.fault === 'refused') await proxies[fault.service]?.accept();
      active.delete(fault);
      return over.abort();
    }
    default:
      return event satisfies never;
  }
}

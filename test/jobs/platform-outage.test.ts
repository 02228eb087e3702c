import { expect, test } from 'vitest';
import type { Lease } from '../../lib/jobs/delivery.ts';
import { jobTimes } from '../../lib/jobs/job-times.ts';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import { invocationLease } from '../../lib/jobs/open-worker.ts';
import type { RunJob } from '../../lib/jobs/send-context.ts';
import type { Job } from '../../lib/jobs/types/job-types.ts';
import { runBatch } from '../../lib/jobs/work.ts';
import { createFleetBreaker } from '../../lib/pace/breaker.ts';
import { createMemoryBudget } from '../../lib/pace/budget.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { createVirtualClock } from '../pace/virtual-clock.ts';
import { countingQueue } from './counting-queue.ts';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';

/*
 * The platform is unavailable for 12 hours. Two invocations of the deployed worker run concurrently, as Lambda's poller
 * keeps them: when one has responded, the next begins as soon as a message is visible.
 */

const HOUR = 3_600_000;
const OUTAGE_MS = 12 * HOUR;
const WORKERS = 2;
/** The function's time limit, and the parameters of its queue. */
const LIMIT_MS = 400_000;
const HIDDEN_MS = LIMIT_MS + 30_000;
const CALL_MS = 300;

const refused = { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' } as const;
const context = { operation: 'runFunction', about: 'function add', attempts: 1 };

test.for([
  { jobs: 10, maxSendMs: jobTimes.codeFunctionMs, maxPerHour: 56 },
  { jobs: 10_000, maxSendMs: 60_000, maxPerHour: 12 },
])(
  'while the platform is unavailable for 12 hours, $jobs jobs of $maxSendMs ms cost each worker $maxPerHour invocations an hour',
  { timeout: 120_000 },
  async ({ jobs, maxSendMs, maxPerHour }) => {
    const clock = createVirtualClock();
    const isOutage = () => clock.now() < OUTAGE_MS;
    const ids = Array.from({ length: jobs }, (_, number) => `job-${number}`);
    const bodies = ids.map((id) => JSON.stringify({ ...runFunctionJob, id }));
    const { queue, receive, seen, lost } = countingQueue(clock.now, bodies);
    const item = createMemoryBudget();
    const invocations = new Map<number, number>();
    const calls: number[] = [];
    const untilMs = OUTAGE_MS + 90_000;

    const fake = fakeWorker({});
    const { now, sleep } = clock;
    const ledger = createLedger({ table: fake.batches.table, now });

    const poll = async () => {
      const outcome = () => (isOutage() ? 'unreachable' : 'answered');
      const probe = () => sleep(50).then(outcome);
      const breaker = createFleetBreaker({ item, clock, probe });
      const call: RunJob<Job> = async (_job, turn) => {
        await turn.beforeSend();
        turn.onSend();
        await sleep(CALL_MS);
        breaker.ended(outcome(), CALL_MS);
        if (isOutage()) throw new PlatformError(refused, context);
        calls.push(now());
        return { status: 'done', response: '1' };
      };
      const runners = { ...fake.worker.runners, 'run-function': call };
      const mine = { now, sleep, breaker, maxSendMs: () => maxSendMs, ledger, runners };
      while (now() < untilMs) {
        const messages = receive(10, HIDDEN_MS);
        if (messages.length === 0) {
          await sleep(1_000);
          continue;
        }
        // The hours are counted from one minute after the start, by when the workers have noticed the outage.
        const hour = Math.floor((now() - 60_000) / HOUR);
        const count = (invocations.get(hour) ?? 0) + 1;
        if (isOutage()) invocations.set(hour, count);
        if (isOutage() && hour >= 0 && count > WORKERS * maxPerHour) return;
        const lease: Lease = invocationLease(LIMIT_MS, { now, steady: now });
        const options = { worker: { ...fake.worker, ...mine }, lease, queue, concurrency: 8 };
        const failed = await runBatch(messages, options);
        for (const { messageId, receipt } of messages)
          if (!failed.includes(messageId)) await queue.delete(receipt);
      }
    };
    for (let worker = 1; worker <= WORKERS; worker += 1) void poll();
    await clock.run();

    const hours = Array.from({ length: 12 }, (_, hour) => invocations.get(hour));
    expect(hours.filter((count = 0) => count === 0 || count > WORKERS * maxPerHour)).toEqual([]);
    expect(lost).toEqual([]);
    expect(seen.mostReceives).toBeLessThanOrEqual(200);
    const [first = Number.POSITIVE_INFINITY] = calls;
    expect(first - OUTAGE_MS).toBeLessThan(15_000);
    const soon = calls.filter((atMs) => atMs >= OUTAGE_MS + 30_000 && atMs < OUTAGE_MS + 60_000).length;
    // An invocation receives ten jobs and runs eight at a time, so it takes two rounds.
    if (jobs > 10) expect(soon).toBeGreaterThan(0.95 * WORKERS * 10 * (30_000 / (2 * CALL_MS)));
    else expect(calls).toHaveLength(10);
  },
);

import { expect, test } from 'vitest';
import { runBatch } from '../../lib/jobs/handle-once.ts';
import type { Lease } from '../../lib/jobs/held.ts';
import { jobTimes } from '../../lib/jobs/job-times.ts';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import { leaseUntil } from '../../lib/jobs/open-worker.ts';
import type { Queue, QueueMessage } from '../../lib/jobs/queue/queue.ts';
import type { RunJob } from '../../lib/jobs/turn.ts';
import type { Job } from '../../lib/jobs/types/job-types.ts';
import { createFleetBreaker } from '../../lib/pace/breaker.ts';
import { createMemoryBudget } from '../../lib/pace/budget.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { createVirtualClock } from '../pace/virtual-clock.ts';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';

/*
 * The platform is away for 12 hours, and two invocations of the deployed worker run at once, as Lambda's poller keeps
 * them: as soon as one has responded, the next begins if a message is visible.
 */

const HOUR = 3_600_000;
const AWAY_MS = 12 * HOUR;
const WORKERS = 2;
/** The function's time limit, and the parameters of its queue. */
const LIMIT_MS = 400_000;
const HIDDEN_MS = LIMIT_MS + 30_000;
const MOST_RECEIVES = 1_000;
const CALL_MS = 300;

const refused = { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' } as const;
const context = { operation: 'runFunction', about: 'function add', attempts: 1 };

type Clock = ReturnType<typeof createVirtualClock>;
type Queued = QueueMessage & { readonly visibleAtMs: number };

/** A queue in which what was put back last comes last. */
function queueOf(clock: Clock, jobs: number) {
  const queued = new Map<string, Queued>();
  const seen = { mostReceives: 0, dead: 0 };
  let sent = 0;
  const put = (body: string, delayMs: number) => {
    sent += 1;
    const receipt = `m-${sent}`;
    const made = { messageId: receipt, receipt, body, sender: 'AIDAEXAMPLE', receives: 0 };
    queued.set(receipt, { ...made, visibleAtMs: clock.now() + delayMs });
  };
  for (let number = 1; number <= jobs; number += 1)
    put(JSON.stringify({ ...runFunctionJob, id: `job-${number}` }), 0);
  const queue: Pick<Queue, 'send' | 'delete' | 'delay'> = {
    async send(bodies, { delayMs = 0 } = {}) {
      for (const body of bodies) put(body, delayMs);
    },
    delete: async (receipt) => void queued.delete(receipt),
    async delay(receipt, delayMs) {
      const message = queued.get(receipt);
      queued.delete(receipt);
      if (message) queued.set(receipt, { ...message, visibleAtMs: clock.now() + delayMs });
    },
  };
  const receive = (): readonly QueueMessage[] => {
    const taken: Queued[] = [];
    for (const message of queued.values()) {
      if (taken.length === 10) break;
      if (message.visibleAtMs <= clock.now()) taken.push(message);
    }
    return taken.flatMap((message) => {
      const receives = message.receives + 1;
      seen.mostReceives = Math.max(seen.mostReceives, receives);
      if (receives > MOST_RECEIVES) seen.dead += 1;
      const received = { ...message, receives, visibleAtMs: clock.now() + HIDDEN_MS };
      queued.set(message.receipt, received);
      return [received];
    });
  };
  return { queue, receive, seen };
}

test.for([
  { jobs: 10, mustLastMs: jobTimes.codeFunctionMs, mostAnHour: 56 },
  { jobs: 10_000, mustLastMs: 60_000, mostAnHour: 12 },
])(
  'while the platform is away for 12 hours, $jobs jobs of $mustLastMs ms cost $mostAnHour invocations an hour for each worker',
  { timeout: 120_000 },
  async ({ jobs, mustLastMs, mostAnHour }) => {
    const clock = createVirtualClock();
    const isAway = () => clock.now() < AWAY_MS;
    const { queue, receive, seen } = queueOf(clock, jobs);
    const item = createMemoryBudget();
    const invocations = new Map<number, number>();
    const calls: number[] = [];
    const untilMs = AWAY_MS + 90_000;

    await using fake = await fakeWorker({});
    const { now, sleep } = clock;
    const ledger = createLedger({ table: fake.batches.table, now });

    const poll = async () => {
      const outcome = () => (isAway() ? 'unreachable' : 'answered');
      const probe = () => sleep(50).then(outcome);
      const breaker = createFleetBreaker({ item, clock, probe });
      const call: RunJob<Job> = async (_job, turn) => {
        await turn.beforeSend();
        turn.onLeave();
        await sleep(CALL_MS);
        breaker.ended(outcome(), CALL_MS);
        if (isAway()) throw new PlatformError(refused, context);
        calls.push(now());
        return { status: 'done', response: '1' };
      };
      const runners = { ...fake.worker.runners, 'run-function': call };
      const mine = { now, sleep, breaker, mustLastMs: () => mustLastMs, ledger, runners };
      while (now() < untilMs) {
        const messages = receive();
        if (messages.length === 0) {
          await sleep(1_000);
          continue;
        }
        // Within a minute it is found out.
        const hour = Math.floor((now() - 60_000) / HOUR);
        const count = (invocations.get(hour) ?? 0) + 1;
        if (isAway()) invocations.set(hour, count);
        if (isAway() && hour >= 0 && count > WORKERS * mostAnHour) return;
        const lease: Lease = leaseUntil(now() + LIMIT_MS - jobTimes.toAnswerMs, now);
        const given = { worker: { ...fake.worker, ...mine }, lease, queue, concurrency: 8 };
        const failed = await runBatch(messages, given);
        for (const { messageId, receipt } of messages)
          if (!failed.includes(messageId)) await queue.delete(receipt);
      }
    };
    for (let worker = 1; worker <= WORKERS; worker += 1) void poll();
    await clock.run();

    const hours = Array.from({ length: 12 }, (_, hour) => invocations.get(hour));
    expect(hours.filter((count = 0) => count === 0 || count > WORKERS * mostAnHour)).toEqual([]);
    expect(seen.dead).toBe(0);
    expect(seen.mostReceives).toBeLessThanOrEqual(200);
    const [first = Number.POSITIVE_INFINITY] = calls;
    expect(first - AWAY_MS).toBeLessThan(15_000);
    const soon = calls.filter((atMs) => atMs >= AWAY_MS + 30_000 && atMs < AWAY_MS + 60_000).length;
    // A batch is ten jobs, of which eight run at once.
    if (jobs > 10) expect(soon).toBeGreaterThan(0.95 * WORKERS * 10 * (30_000 / (2 * CALL_MS)));
    else expect(calls).toHaveLength(10);
  },
);

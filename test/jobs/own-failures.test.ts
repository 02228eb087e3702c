import { expect, test } from 'vitest';
import { createLedger } from '../../lib/jobs/ledger/ledger.ts';
import { renewedLease } from '../../lib/jobs/open-worker.ts';
import { createFleetBreaker } from '../../lib/pace/breaker.ts';
import { createMemoryBudget } from '../../lib/pace/budget.ts';
import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import { createCall } from '../../lib/platform/call.ts';
import { operations } from '../../lib/platform/client.ts';
import type { Send } from '../../lib/platform/http/transport.ts';
import { callOutcome, probePlatform } from '../../lib/platform/outage.ts';
import { defaultRetryLimits } from '../../lib/platform/retry.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { createVirtualClock } from '../pace/virtual-clock.ts';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';
import { workerOver } from './worker-over.ts';

/*
 * A single job whose calls always get a 500, while nothing else runs. Its failures look like an outage, but a harmless
 * read that succeeds shows that it is not one. The real client, pace, breaker and runners on a virtual clock.
 */

const HOUR_MS = 3_600_000;

/** Delivers a job until it has ended (at most 12 hours). `isUnavailable`: the harmless read fails too. */
async function deliver(job: { readonly id: string }, isUnavailable: (nowMs: number) => boolean) {
  const clock = createVirtualClock();
  const { now, sleep } = clock;
  let [sends, probes] = [0, 0];
  const send: Send = async ({ target }) => {
    await sleep(50);
    const isProbe = target.includes('/functions/search');
    if (isProbe) probes += 1;
    else sends += 1;
    const isOk = isProbe && !isUnavailable(now());
    if (!isOk)
      return { kind: 'failure', failure: { kind: 'status', status: 500 }, status: 500, sizeBytes: 0 };
    const response = { text: '{"results":[]}', json: { results: [] } };
    return { kind: 'response', response, status: 200, sizeBytes: 14 };
  };
  const fake = fakeWorker({});
  const { table, store } = fake.batches;
  const ledger = createLedger({ table, now });
  const random = () => 0.5;
  const pace = createProcessPace({ rate: 2, concurrency: 8, maxWaitMs: 20_000, now, sleep });
  const callWith = (budgetMs: number) =>
    createCall({
      ...{ send, pace, now, sleep, random, timeoutMs: 60_000, token: fixedToken('token') },
      limits: { ...defaultRetryLimits, budgetMs },
      observe: (event) =>
        event.kind === 'request' && breaker.ended(callOutcome(event.failure), event.durationMs),
    });
  const breaker = createFleetBreaker({
    item: createMemoryBudget(),
    probe: () => probePlatform(callWith(300_000)),
    clock: { now, sleep },
  });
  const worker = {
    ...workerOver({
      ...{ owner: 'worker', table, store, ledger, now, sleep, random, newToken: () => crypto.randomUUID() },
      platform: operations(callWith(20_000)),
      reportFinished: async () => undefined,
    }),
    breaker,
  };
  const lease = renewedLease(ledger);
  let endedMs: number | undefined;
  const poll = async () => {
    for (let receives = 1; now() < 12 * HOUR_MS; receives += 1) {
      const handled = await fake.handle(job, { message: { receives }, worker, lease });
      if (handled.kind === 'done') {
        endedMs = now();
        return;
      }
      await sleep(handled.kind === 'later' ? handled.delayMs : 0);
    }
  };
  const polled = poll();
  await clock.run();
  await polled;
  const row = await ledger.read(job.id);
  return { row, sends, probes, endedMs, breakerIs: breaker.knownBlockedMs() };
}

const dataFile = { version: 1, type: 'data-files', id: 'job-1', ids: ['7'] };
const text = { version: 1, type: 'score', id: 'job-1', texts: [{ id: 'a', text: 'bad' }] };
const repeatable = { ...runFunctionJob, onUnknown: 'retry' };

test.each([
  ['data file', dataFile, 'FAILED', 45],
  ['function that may be repeated', repeatable, 'FAILED', 5],
  // The job is done, and the text's row has the error.
  ['text', text, 'DONE', 9],
])(
  'a single %s that always gets a 500 fails after its own retries, since a harmless read succeeds',
  async (_, job, state, maxSends) => {
    const { row, sends, endedMs, breakerIs } = await deliver(job, () => false);

    expect(row?.state).toBe(state);
    expect(sends).toBeLessThanOrEqual(maxSends);
    expect(sends).toBeGreaterThanOrEqual(5);
    expect(endedMs).toBeLessThan(HOUR_MS / 4);
    expect(breakerIs).toBeUndefined();
    expect(JSON.stringify(row?.outcome)).toContain('500');
  },
);

test.each([
  ['data file', dataFile],
  ['function that may be repeated', repeatable],
  ['text', text],
])(
  'a single %s uses none of its attempts while the platform is unavailable for three hours',
  async (_, job) => {
    const { row, sends } = await deliver(job, (nowMs) => nowMs < 3 * HOUR_MS);

    // The job fails by its own attempts only after the read succeeds again.
    expect(row?.startedAt).toBeLessThan(HOUR_MS);
    expect(row?.finishedAt).toBeGreaterThan(3 * HOUR_MS);
    expect(sends).toBeLessThan(120);
  },
);

import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { AwsError } from '../../lib/base/aws/fault.ts';
import type { Ledger } from '../../lib/jobs/ledger/ledger.ts';
import type { Queue } from '../../lib/jobs/queue/queue.ts';
import { RequeueError } from '../../lib/jobs/send-context.ts';
import { work } from '../../lib/jobs/work.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { fakeWorker, invocationLease, runFunctionJob } from './fake-worker.ts';
import { forgetfulQueue } from './forgetful-queue.ts';
import { memoryQueue } from './memory-queue.ts';

const options = { concurrency: 2, visibilitySeconds: 60, drain: true, signal: new AbortController().signal };
const sleep: Parameters<typeof work>[0]['sleep'] = () => turn();

test.for([1, 2, 3, 4, 5, 6])(
  'work drains all 40 jobs of a queue whose short polls miss messages and whose counts lag: seed %i',
  async (seed) => {
    const back = new Set<string>();
    const fake = fakeWorker({
      'run-function': async ({ id }) => {
        // Every fourth job is requeued once, for longer than the counts lag.
        if (back.has(id) || Number(id.slice(4)) % 4 > 0) return { status: 'done', response: '1' };
        back.add(id);
        throw new RequeueError('not now', 20_000);
      },
    });
    const jobs = Array.from({ length: 40 }, (_, index) =>
      JSON.stringify({ ...runFunctionJob, id: `job-${index}` }),
    );
    const queue = forgetfulQueue(fake.clock, { seed, bodies: jobs, isHandled: true });

    const counts = await work({
      ...options,
      worker: fake.worker,
      lease: { ...invocationLease(fake), deadlineMs: undefined },
      queue,
      sleep: queue.sleep,
    });

    expect(counts).toEqual({ done: 40, later: 10, failed: 0 });
    expect(queue.bodies()).toEqual([]);
  },
);

test('with a queue whose counts are exact, work does not wait for an empty poll', async () => {
  const fake = fakeWorker({ 'run-function': async () => ({ status: 'done', response: '1' }) });
  const queue = memoryQueue([JSON.stringify(runFunctionJob)]);
  const received: number[] = [];

  const counts = await work({
    ...options,
    worker: fake.worker,
    lease: invocationLease(fake),
    queue: {
      ...queue,
      polls: { waitSeconds: 0.25, emptyPolls: 1, areCountsExact: true },
      async receive(asked) {
        const messages = await queue.receive(asked);
        received.push(messages.length);
        return messages;
      },
    },
    concurrency: 1,
    sleep,
  });

  expect(counts).toEqual({ done: 1, later: 0, failed: 0 });
  expect(received).toEqual([1]);
});

const awsError = (name: string) =>
  new AwsError('queue', 'receive', Object.assign(new Error(name), { code: name, name }));

describe('a queue that is unavailable', () => {
  test.for(['ECONNREFUSED', 'TimeoutError', 'RequestThrottled', 'InternalFailure'])(
    'is polled again until it responds, at most every 20 s, and logged once: %s',
    async (code) => {
      const fake = fakeWorker({
        'run-function': async () => ({ status: 'done', response: '1' }),
      });
      const logged: string[] = [];
      const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
      const queue = memoryQueue([JSON.stringify(runFunctionJob)]);
      let [polls, counted] = [0, 0];
      const slept: number[] = [];

      const counts = await work({
        ...options,
        worker: { ...fake.worker, logger },
        lease: invocationLease(fake),
        queue: {
          ...queue,
          receive: async (asked) => {
            polls += 1;
            if (polls <= 100) throw awsError(code);
            return queue.receive(asked);
          },
          counts: async () => {
            counted += 1;
            if (counted <= 3) throw awsError(code);
            return queue.counts();
          },
        },
        sleep: async (ms) => {
          slept.push(ms);
          await turn();
        },
      });

      expect(counts).toEqual({ done: 1, later: 0, failed: 0 });
      expect(logged.filter((line) => line.includes('the queue is unavailable'))).toHaveLength(2);
      expect(Math.max(...slept)).toBeLessThanOrEqual(20_000);
      expect(slept[0]).toBeLessThanOrEqual(1_000);
    },
  );

  test('does not keep a worker from being stopped', async () => {
    const fake = fakeWorker({});
    const stop = new AbortController();

    const counts = await work({
      ...options,
      drain: false,
      signal: stop.signal,
      worker: fake.worker,
      lease: invocationLease(fake),
      queue: { ...memoryQueue(), receive: () => Promise.reject(awsError('ECONNREFUSED')) },
      sleep: async () => stop.abort(),
    });

    expect(counts).toEqual({ done: 0, later: 0, failed: 0 });
  });

  test.for(['QueueDoesNotExist', 'AccessDenied'])(
    'ends the work immediately if it will stay unavailable: %s',
    async (code) => {
      const fake = fakeWorker({});

      const ended = work({
        ...options,
        worker: fake.worker,
        lease: invocationLease(fake),
        queue: { ...memoryQueue(), receive: () => Promise.reject(awsError(code)) },
        sleep,
      });

      await expect(ended).rejects.toThrow(code);
    },
  );
});

test('work receives nothing while the table is unavailable: only the messages in memory use up a receive', async () => {
  const fake = fakeWorker({ 'run-function': async () => ({ status: 'done', response: '1' }) });
  const backMs = fake.clock.nowMs + 15_000;
  const isUnavailable = () => fake.clock.nowMs < backMs;
  const table = new TableError('get a row', { kind: 'unreachable', code: 'ECONNREFUSED' });
  const ledger: Ledger = {
    ...fake.ledger,
    claim: (...asked) => (isUnavailable() ? Promise.reject(table) : fake.ledger.claim(...asked)),
    read: (id) => (isUnavailable() ? Promise.reject(table) : fake.ledger.read(id)),
  };
  const bodies = Array.from({ length: 100 }, (_, index) =>
    JSON.stringify({ ...runFunctionJob, id: `job-${index}` }),
  );
  const queue = forgetfulQueue(fake.clock, { seed: 1, bodies, isHandled: true });
  let [receivedWhileUnavailable, firstMs] = [0, Number.POSITIVE_INFINITY];

  const counts = await work({
    ...options,
    worker: { ...fake.worker, ledger },
    lease: { ...invocationLease(fake), deadlineMs: undefined },
    queue: {
      ...queue,
      receive: async (asked) => {
        const messages = await queue.receive(asked);
        if (isUnavailable()) receivedWhileUnavailable += messages.length;
        else firstMs = Math.min(firstMs, fake.clock.nowMs);
        return messages;
      },
    },
    sleep: queue.sleep,
  });

  expect(receivedWhileUnavailable).toBeLessThanOrEqual(2);
  // While it is unavailable, the table is checked every second.
  expect(firstMs - backMs).toBeLessThanOrEqual(1_000);
  expect(counts).toEqual({ done: 100, later: 0, failed: receivedWhileUnavailable });
  expect(queue.bodies()).toEqual([]);
});

test('long polls are used even while a job runs', async () => {
  const waits: number[] = [];
  const ended = Promise.withResolvers<void>();
  const fake = fakeWorker({
    'run-function': async () => {
      await ended.promise;
      return { status: 'done', response: '1' };
    },
  });
  const queue = memoryQueue([JSON.stringify(runFunctionJob)]);
  const receive: Queue['receive'] = async (asked) => {
    waits.push(asked.waitSeconds);
    if (waits.length === 5) ended.resolve();
    await turn();
    return queue.receive(asked);
  };

  await work({
    ...options,
    worker: fake.worker,
    lease: invocationLease(fake),
    queue: { ...queue, receive },
    sleep,
  });

  expect(waits.length).toBeGreaterThan(5);
  expect(new Set(waits)).toEqual(new Set([2]));
});

test('a message whose deletion gets no response is logged as a warning that names it', async () => {
  const fake = fakeWorker({ 'run-function': async () => ({ status: 'done', response: '1' }) });
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const stop = new AbortController();
  const queue: Queue = {
    ...memoryQueue([JSON.stringify(runFunctionJob)]),
    async delete() {
      stop.abort();
      throw new Error('no response');
    },
  };

  const worker = { ...fake.worker, logger };
  const counts = await work({
    ...options,
    signal: stop.signal,
    worker,
    lease: invocationLease(fake),
    queue,
    sleep,
  });

  expect(counts).toEqual({ done: 0, later: 0, failed: 1 });
  expect(JSON.parse(logged.join())).toMatchObject({
    msg: 'the message was not deleted, and will be delivered again',
    messageId: expect.any(String),
    err: { message: 'no response' },
  });
});

test('a refused delay is logged as a warning, and the job counts as requeued', async () => {
  const fake = fakeWorker({
    'run-function': async () => {
      throw new RequeueError('not now', 86_400_000);
    },
  });
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const stop = new AbortController();
  const queue: Queue = {
    ...memoryQueue([JSON.stringify(runFunctionJob)]),
    async delay() {
      stop.abort();
      throw new Error('beyond the limit');
    },
  };

  const worker = { ...fake.worker, logger };
  const counts = await work({
    ...options,
    signal: stop.signal,
    worker,
    lease: invocationLease(fake),
    queue,
    sleep,
  });

  expect(counts).toEqual({ done: 0, later: 1, failed: 0 });
  expect(logged.join()).toContain('the message was not delayed');
  expect(logged.join()).not.toContain('message not handled');
});

test('the visibility timeout of a requeued message is no longer extended', async () => {
  const fake = fakeWorker({
    'run-function': async () => {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      throw new RequeueError('not now', 0);
    },
  });
  const stop = new AbortController();
  const calls: string[] = [];
  const queue: Queue = {
    ...memoryQueue([JSON.stringify(runFunctionJob)]),
    extend: async () => void calls.push('hidden'),
    async delay() {
      calls.push('back');
      stop.abort();
    },
  };
  const waitToExtend: Parameters<typeof work>[0]['waitToExtend'] = async (_ms, signal) => {
    await turn();
    signal.throwIfAborted();
  };
  const parts = { ...options, worker: fake.worker, lease: invocationLease(fake), queue, sleep, waitToExtend };

  await work({ ...parts, drain: false, signal: stop.signal });
  for (let turns = 0; turns < 5; turns += 1) await turn();

  expect(calls).toContain('hidden');
  expect(calls.at(-1)).toBe('back');
});

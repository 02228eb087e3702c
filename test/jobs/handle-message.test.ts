import { describe, expect, test } from 'vitest';
import { createInHand } from '../../lib/base/aws/traced.ts';
import { RequeueError, type RunJob } from '../../lib/jobs/send-context.ts';
import type { Runners } from '../../lib/jobs/types/job-types.ts';
import { createLogger } from '../../lib/logger.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';

const succeeds: Runners['run-function'] = async (_, turn) => {
  await turn.beforeSend();
  turn.onSend();
  return { status: 'done', response: '{"executionId":"e-1","big":9007199254740993}' };
};

const RESULT = 'results/run-function/dt=2026-11-21/job-1.json';

describe('a job that is done', () => {
  test('has one result, with the digits of the response unchanged, and is reported', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });

    const handled = await fake.handle(runFunctionJob);

    expect(handled).toEqual({ kind: 'done' });
    expect((await fake.store.get(RESULT))?.body.toString()).toBe(
      '{"version":1,"id":"job-1","type":"run-function","status":"done","attempts":1,' +
        '"startedAt":"2026-11-21T09:00:00.000Z","finishedAt":"2026-11-21T09:00:00.000Z",' +
        '"sender":"AIDAEXAMPLE","response":{"executionId":"e-1","big":9007199254740993}}\n',
    );
    expect(fake.finished).toEqual([{ id: 'job-1', type: 'run-function', status: 'done', result: RESULT }]);
  });

  test('is not run again, but a missing result is written again', async () => {
    let runs = 0;
    const fake = fakeWorker({
      'run-function': async (job, turn) => {
        const done = await succeeds(job, turn);
        runs += 1;
        return done;
      },
    });
    await fake.handle(runFunctionJob);
    const first = (await fake.store.get(RESULT))?.body.toString();
    await fake.store.delete(RESULT);

    const again = await fake.handle(runFunctionJob, { message: { messageId: 'm-2' } });

    expect(again).toEqual({ kind: 'done' });
    expect(runs).toBe(1);
    expect((await fake.store.get(RESULT))?.body.toString()).toBe(first);
  });
});

test('a job is listed as running while it runs', async () => {
  const inHand = createInHand(() => 0);
  const seen: unknown[] = [];
  const fake = fakeWorker({
    'run-function': async (job, turn) => {
      seen.push(...inHand.list(10));
      return succeeds(job, turn);
    },
  });

  await fake.handle(runFunctionJob, { worker: { inHand } });

  expect(seen).toEqual([{ job: 'job-1', type: 'run-function', forMs: 0 }]);
  expect(inHand.size()).toBe(0);
});

describe('while the platform is unavailable', () => {
  const unavailableFor = (times: number) => ({
    blockedMs: async () => (times-- > 0 ? 8_000 : undefined),
    knownBlockedMs: () => undefined,
    knownOutageMs: () => undefined,
  });

  test('a message waits in the worker without a claim, and runs immediately afterwards', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const { nowMs } = fake.clock;

    const handled = await fake.handle(runFunctionJob, { worker: { breaker: unavailableFor(3) } });

    expect(handled).toEqual({ kind: 'done' });
    expect(await fake.ledger.read('job-1')).toMatchObject({ createdAt: nowMs + 24_003, attempts: 1 });
  });

  test.each([
    ['the time for its send begins', 120_000, 60_000],
    ['five minutes have passed', undefined, 300_000],
  ])('a message is requeued without a claim as soon as %s', async (_, leftMs, waitedMs) => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const { nowMs } = fake.clock;
    const deadlineMs = leftMs === undefined ? undefined : nowMs + leftMs;

    const handled = await fake.handle(runFunctionJob, {
      worker: { breaker: unavailableFor(1_000) },
      lease: { deadlineMs },
    });

    expect(handled).toEqual({ kind: 'later', delayMs: 0 });
    expect(fake.clock.nowMs - nowMs).toBe(waitedMs);
    expect(await fake.ledger.read('job-1')).toBeUndefined();
  });

  test('a waiting message is requeued as soon as the worker is stopped', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const stopping = new AbortController();
    const sleep = async (_ms: number, signal?: AbortSignal) => {
      stopping.abort(new RequeueError('the worker is stopping', 0));
      signal?.throwIfAborted();
    };

    const handled = await fake.handle(runFunctionJob, {
      message: { receives: 2 },
      worker: { sleep, breaker: unavailableFor(1) },
      lease: { stop: stopping.signal },
    });

    expect(handled).toEqual({ kind: 'later', delayMs: 0 });
    expect(await fake.ledger.read('job-1')).toBeUndefined();
  });

  test('a job that waits for its slot sends nothing, and nothing is written', async () => {
    let isKnown = false;
    const fake = fakeWorker({
      'run-function': (job, turn) => {
        isKnown = true;
        return succeeds(job, turn);
      },
    });
    const knownMs = () => (isKnown ? 4_000 : undefined);
    const breaker = { blockedMs: async () => undefined, knownBlockedMs: knownMs, knownOutageMs: knownMs };

    const handled = await fake.handle(runFunctionJob, { worker: { breaker } });

    expect(handled).toEqual({ kind: 'later', delayMs: 4_000 });
    expect(await fake.ledger.read('job-1')).toBeUndefined();
  });
});

describe('a message that is delivered again', () => {
  test('while another worker has its job becomes visible when that worker’s lease has expired', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const request = { id: 'job-1', type: 'run-function', contentHash: 'x', sender: 'other' };
    const { contentHash } = await hashOf();
    await fake.ledger.claim({ ...request, contentHash }, { leaseMs: 40_000 });

    const handled = await fake.handle(runFunctionJob);

    expect(handled).toEqual({ kind: 'later', delayMs: 41_000 });
  });

  test('is not even claimed if there is no time for a send', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const lease = { deadlineMs: fake.clock.nowMs + 59_999 };

    const handled = await fake.handle(runFunctionJob, { lease, message: { receives: 2 } });

    expect(handled).toEqual({ kind: 'later', delayMs: 0 });
    expect(await fake.ledger.read('job-1')).toBeUndefined();
  });
});

test('a message whose job another worker has becomes visible within a lease, although the clock was set back by a month', async () => {
  const fake = fakeWorker({ 'run-function': succeeds });
  const month = 31 * 86_400_000;
  const request = { id: 'job-1', type: 'run-function', sender: 'other', ...(await hashOf()) };
  await fake.ledger.claim(request, { leaseMs: 40_000 });
  fake.clock.nowMs -= month;

  const handled = await fake.handle(runFunctionJob);

  expect(handled).toEqual({ kind: 'later', delayMs: 126_000 });
});

describe('a worker that is stopped', () => {
  const reason = new RequeueError('the worker is stopping', 7_000);
  const around = (cause: unknown, depth: number): Error =>
    depth === 0 ? (cause as Error) : new Error(`around ${depth}`, { cause: around(cause, depth - 1) });
  const fails = async (thrown: (stop: AbortController) => unknown) => {
    const stop = new AbortController();
    const fake = fakeWorker({
      'run-function': async () => {
        throw thrown(stop);
      },
    });
    const lease = { stop: stop.signal };
    const handled = await fake.handle(runFunctionJob, { lease });
    return { handled, row: await fake.ledger.read('job-1') };
  };

  test.for([0, 1, 9])(
    'requeues a job that fails because of the stop, and counts no try, even if that reason is %i causes deep in the error',
    async (depth) => {
      const { handled, row } = await fails((stop) => {
        stop.abort(reason);
        return around(reason, depth);
      });

      expect(handled).toEqual({ kind: 'later', delayMs: 7_000 });
      expect(row).toBeUndefined();
    },
  );

  const circular = () => {
    const one = new Error('one');
    return Object.assign(one, { cause: new Error('other', { cause: one }) });
  };
  test.for<[string, () => unknown, boolean]>([
    ['failed for another reason', () => around(new Error('another'), 1), true],
    ['failed for this reason without being stopped', () => around(reason, 1), false],
    ['failed for this reason, too deep in its causes', () => around(reason, 10), true],
    ['failed with errors that are each other’s cause', circular, true],
  ])('counts a try of a job that %s', async ([, thrown, isStopped]) => {
    const { row } = await fails((stop) => {
      if (isStopped) stop.abort(reason);
      return thrown();
    });

    expect(row).toMatchObject({ unsentTries: 1 });
  });
});

describe('a message that cannot become a job', () => {
  test('is stored with every reason, and acknowledged', async () => {
    const fake = fakeWorker({});

    const handled = await fake.handle('{"version":2}');

    expect(handled).toEqual({ kind: 'done' });
    expect(await fake.stored('refused/m-1.json')).toMatchObject({
      messageId: 'm-1',
      sender: 'AIDAEXAMPLE',
      body: '{"version":2}',
      faults: expect.arrayContaining([expect.stringContaining('version: expected 1')]),
    });
  });

  test('does not affect the job with its id if that job has different content', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    await fake.handle(runFunctionJob);
    const other = { ...runFunctionJob, functionName: 'subtract' };

    await fake.handle(other, { message: { messageId: 'm-2' } });

    expect(await fake.stored('refused/m-2.json')).toMatchObject({
      faults: ['id: expected an id that no other job has, got "job-1"'],
    });
    expect(await fake.stored(RESULT)).toMatchObject({ status: 'done' });
  });

  test('is refused if it is not allowed', async () => {
    const fake = fakeWorker({});
    const worker = { ...fake.worker, allow: { types: ['score' as const] } };

    await fake.handle(runFunctionJob, { worker });

    expect(await fake.stored('refused/m-1.json')).toMatchObject({
      faults: [expect.stringContaining('type: expected one that SYNC_ALLOW allows (score)')],
    });
  });
});

async function hashOf() {
  const { parseMessage } = await import('../../lib/jobs/message/message.ts');
  const parsed = parseMessage(JSON.stringify(runFunctionJob), { messageId: 'm', allow: {} });
  return parsed.kind === 'job' ? parsed : { contentHash: '' };
}

describe('a message with `notBefore`', () => {
  const job = { ...runFunctionJob, notBefore: '2026-11-21T10:30:00+01:00' };

  test('is requeued without a claim until then', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });

    const early = await fake.handle(job);
    const before = await fake.ledger.read('job-1');
    fake.clock.nowMs += 30 * 60_000;
    const inTime = await fake.handle(job);

    expect(early).toEqual({ kind: 'later', delayMs: 30 * 60_000 });
    expect(before).toBeUndefined();
    expect(inTime).toEqual({ kind: 'done' });
  });

  test('asks for the same job if only `notBefore` or `priority` differs', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    await fake.handle(runFunctionJob);
    const again = { ...runFunctionJob, notBefore: '2026-11-21', priority: 'high' };

    const handled = await fake.handle(again, { message: { messageId: 'm-2' } });

    expect(handled).toEqual({ kind: 'done' });
    expect(fake.finished.map(({ id }) => id)).toEqual(['job-1', 'job-1']);
    expect(await fake.store.get('refused/m-2.json')).toBeUndefined();
  });
});

test.for([
  [runFunctionJob, 'normal'],
  [{ ...runFunctionJob, priority: 'high' }, 'high'],
  [{ version: 1, type: 'score', texts: [{ id: 'a', text: 'b' }] }, 'normal'],
  [{ version: 1, type: 'score', texts: [{ id: 'a', text: 'b' }], batch: 'b', chunk: 0 }, 'bulk'],
  [
    { version: 1, type: 'score', texts: [{ id: 'a', text: 'b' }], batch: 'b', chunk: 0, priority: 'normal' },
    'normal',
  ],
] as const)('the calls of %j have the priority %s', async ([job, priority]) => {
  const shares: unknown[] = [];
  const run: RunJob<unknown> = async (_, turn) => {
    shares.push(turn.priority);
    throw new RequeueError('that is all', 0);
  };
  const fake = fakeWorker({ 'run-function': run, score: run });

  await fake.handle(job);

  expect(shares).toEqual([priority]);
});

const context = { operation: 'runFunction', about: 'function add', attempts: 1 };
async function refuses(): Promise<never> {
  throw new PlatformError({ kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' }, context);
}

describe('a message that this worker should not run', () => {
  test('is requeued unchanged and immediately if the worker is stopping', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });

    const handled = await fake.handle(runFunctionJob, { lease: { stop: AbortSignal.abort() } });

    expect(handled).toEqual({ kind: 'later', delayMs: 0 });
    expect(await fake.ledger.read('job-1')).toBeUndefined();
  });

  test('is run anyway while there is just enough time for its send', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const lease = { deadlineMs: fake.clock.nowMs + 60_000 };

    expect(await fake.handle(runFunctionJob, { lease })).toEqual({ kind: 'done' });
  });
});

test('a message that is received for the first time is claimed as a new job, without a read', async () => {
  const fake = fakeWorker({ 'run-function': succeeds });
  const seen: unknown[] = [];
  const ledger: typeof fake.ledger = {
    ...fake.ledger,
    claim: (request, options) => {
      seen.push(options.isNew);
      return fake.ledger.claim(request, options);
    },
  };

  for (const receives of [1, 2])
    await fake.handle(runFunctionJob, { message: { receives }, worker: { ledger } });

  expect(seen).toEqual([true, false]);
});

test.each(['the lease', 'the worker'])('a job’s signal is aborted when %s ends', async (which) => {
  const [lost, stopping] = [new AbortController(), new AbortController()];
  const seen: boolean[] = [];
  const fake = fakeWorker({
    'run-function': async (_, turn) => {
      await turn.beforeSend();
      (which === 'the lease' ? lost : stopping).abort(new RequeueError('it ends', 0));
      seen.push(turn.signal.aborted);
      turn.signal.throwIfAborted();
      return { status: 'done', response: '1' };
    },
  });
  const holdLease = () => ({ signal: lost.signal, [Symbol.asyncDispose]: async () => undefined });
  const lease = { stop: stopping.signal, holdLease };

  await fake.handle(runFunctionJob, { lease });

  expect(seen).toEqual([true]);
});

describe('a job that was certainly not executed', () => {
  test('waits longer after each try', async () => {
    const fake = fakeWorker({ 'run-function': refuses });
    const handle = (receives: number) => fake.handle(runFunctionJob, { message: { receives } });

    expect([await handle(1), await handle(2)]).toEqual([
      { kind: 'later', delayMs: 1_000 },
      { kind: 'later', delayMs: 2_000 },
    ]);
    expect([...fake.store.objects.keys()]).toEqual([]);
  });

  test('is tried for 12 hours from its first claim, not from when this became known', async () => {
    const fake = fakeWorker({ 'run-function': refuses });
    const [hash, sender] = ['hash', 'AIDAEXAMPLE'];
    const ledger = { ...fake.ledger };
    const asked: string[] = [];
    ledger.claim = (request, options) => {
      asked.push(request.contentHash);
      return fake.ledger.claim({ ...request, contentHash: hash }, options);
    };
    await fake.ledger.announce({ id: 'job-1', type: 'run-function', contentHash: hash, sender });
    fake.clock.nowMs += 13 * 3_600_000;

    const deliver = (receives: number) =>
      fake.handle(runFunctionJob, { message: { receives }, worker: { ledger } });

    for (let delivery = 1; delivery <= 50; delivery += 1)
      expect(await deliver(delivery)).toMatchObject({ kind: 'later' });
    fake.clock.nowMs += 12 * 3_600_000;

    expect(await deliver(51)).toEqual({ kind: 'done' });
    expect(fake.finished).toMatchObject([{ status: 'failed' }]);
    expect(asked).toHaveLength(51);
  });
});

test.each([
  [7_000, { attempts: 1, unsentAttempts: 1 }],
  [undefined, { attempts: 1 }],
])(
  'a failed send that may be repeated, while a harmless read fails for %s ms, counts as %o',
  async (unavailableMs, counts) => {
    let suspectedMs: number | undefined;
    const fake = fakeWorker({
      'data-files': async (_, turn) => {
        await turn.beforeSend();
        turn.onSend();
        suspectedMs = 1_000;
        throw new PlatformError({ kind: 'connection', phase: 'exchange', code: 'ECONNRESET' }, context);
      },
    });
    const breaker = {
      blockedMs: async () => suspectedMs && unavailableMs,
      knownBlockedMs: () => suspectedMs,
      knownOutageMs: () => undefined,
    };
    const job = { version: 1, type: 'data-files', id: 'job-1', ids: ['1'] };

    await fake.handle(job, { worker: { breaker } });

    const { attempts, unsentAttempts } = (await fake.ledger.read('job-1')) ?? {};
    expect({ attempts, ...(unsentAttempts === undefined ? {} : { unsentAttempts }) }).toEqual(counts);
  },
);

test('a send that may be repeated is repeated at growing intervals, and given up after five sends outside outages', async () => {
  let [isSuspected, isAway] = [false, true];
  const fake = fakeWorker({
    'data-files': async (_, turn) => {
      await turn.beforeSend();
      turn.onSend();
      isSuspected = true;
      throw new PlatformError({ kind: 'connection', phase: 'exchange', code: 'ECONNRESET' }, context);
    },
  });
  const breaker = {
    blockedMs: async () => (isSuspected && isAway ? 7_000 : undefined),
    knownBlockedMs: () => undefined,
    knownOutageMs: () => undefined,
  };
  const handled: unknown[] = [];

  for (let delivery = 1; delivery <= 7; delivery += 1) {
    [isSuspected, isAway] = [false, delivery <= 2];
    const job = { version: 1, type: 'data-files', id: 'job-1', ids: ['1'] };
    handled.push(await fake.handle(job, { worker: { breaker } }));
  }

  const delays = [1_000, 2_000, 1_000, 2_000, 4_000, 8_000];
  expect(handled).toEqual([...delays.map((delayMs) => ({ kind: 'later', delayMs })), { kind: 'done' }]);
  expect(fake.finished).toMatchObject([{ id: 'job-1', status: 'failed' }]);
});

test('an ended job is reported with its duration, unless this worker took it after it had ended', async () => {
  const fake = fakeWorker({
    'run-function': async (job, turn) => {
      fake.clock.nowMs += 400;
      return succeeds(job, turn);
    },
  });
  const ended: unknown[] = [];
  const worker = { ...fake.worker, onEnded: (job: unknown) => void ended.push(job) };

  for (const receives of [1, 2, 1]) await fake.handle(runFunctionJob, { message: { receives }, worker });

  const job = { id: 'job-1', type: 'run-function', status: 'done', error: undefined };
  expect(ended).toEqual([
    { ...job, tookMs: 400 },
    { ...job, tookMs: undefined },
    { ...job, tookMs: 400 },
  ]);
});

test('each log line about a job of a batch names the batch', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', (line) => void lines.push(JSON.parse(line)));
  const waits: RunJob<unknown> = async () => {
    throw new RequeueError('its turn is far off', 7_000);
  };
  const fake = fakeWorker({ score: waits, 'run-function': waits });
  const text = { version: 1, type: 'score', texts: [{ id: 'a', text: 'b' }], batch: 'b', chunk: 0 };

  await fake.handle(text, { worker: { logger } });
  await fake.handle(runFunctionJob, { worker: { logger } });

  expect(lines.map(({ type, batch }) => ({ type, batch }))).toEqual([
    { type: 'score', batch: 'b' },
    { type: 'score', batch: 'b' },
    { type: 'run-function', batch: undefined },
    { type: 'run-function', batch: undefined },
  ]);
});

describe('a worker with slots', () => {
  const freeSlot = (isAlone: boolean) => ({ isAlone, share() {}, [Symbol.dispose]() {} });

  test('requeues a message that gets no slot in time', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const stop = new AbortController().signal;
    const asked: unknown[] = [];
    const slots = { take: async (options: unknown) => void asked.push(options) };

    const handled = await fake.handle(runFunctionJob, { worker: { slots }, lease: { stop } });

    expect(handled).toEqual({ kind: 'later', delayMs: 0 });
    expect(asked).toEqual([{ deaths: 0, untilMs: fake.clock.nowMs + 60_000, signal: stop }]);
    expect(await fake.ledger.read('job-1')).toBeUndefined();
  });

  test('waits for a slot forever if it has no deadline', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const asked: unknown[] = [];
    const take = async ({ untilMs }: { readonly untilMs?: number | undefined }) => {
      asked.push(untilMs);
      return freeSlot(false);
    };

    await fake.handle(runFunctionJob, { worker: { slots: { take } }, lease: { deadlineMs: undefined } });

    expect(asked).toEqual([undefined]);
  });

  test('runs a job alone that three workers died with', async () => {
    const fake = fakeWorker({ 'run-function': succeeds });
    const request = { id: 'job-1', type: 'run-function', sender: 'other', ...(await hashOf()) };
    for (let death = 1; death <= 3; death += 1) {
      await fake.ledger.claim(request, { leaseMs: 1_000 });
      fake.clock.nowMs += 1_000;
    }
    const asked: number[] = [];
    const take = async ({ deaths }: { readonly deaths: number }) => {
      asked.push(deaths);
      return freeSlot(deaths > 0);
    };

    const handled = await fake.handle(runFunctionJob, {
      message: { receives: 4 },
      worker: { slots: { take } },
    });

    expect(handled).toEqual({ kind: 'done' });
    expect(asked).toEqual([0, 3]);
    expect(fake.finished).toMatchObject([{ status: 'done' }]);
  });
});

test('a job is requeued if the disk of this worker fails, and the worker learns why', async () => {
  const full = new TableError('put', { kind: 'full', code: 'ENOSPC' });
  const fake = fakeWorker({ 'run-function': () => Promise.reject(full) });

  await expect(fake.handle(runFunctionJob)).rejects.toBe(full);

  expect(await fake.ledger.read('job-1')).toMatchObject({ state: 'CLAIMED', unsentTries: 1 });
});

test('a harmless read is made only after a request that left', async () => {
  let reads = 0;
  const breaker = {
    async blockedMs() {
      reads += 1;
      return undefined;
    },
    knownBlockedMs: () => undefined,
    knownOutageMs: () => undefined,
  };
  const fake = fakeWorker({ 'run-function': refuses });

  await fake.handle(runFunctionJob, { worker: { breaker } });

  // Before the job only.
  expect(reads).toBe(1);
});

test('each log line names the job and the message that it is about', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', (line) => void lines.push(JSON.parse(line)));
  let isRefused = true;
  const fake = fakeWorker({
    'run-function': (job, turn) => (isRefused ? refuses() : succeeds(job, turn)),
  });
  const handle = (body: unknown) => fake.handle(body, { worker: { logger } });

  await handle('{"version":2}');
  await handle(runFunctionJob);
  isRefused = false;
  await handle(runFunctionJob);

  const about = { job: 'job-1', type: 'run-function' };
  expect(lines).toMatchObject([
    {
      msg: 'message refused',
      messageId: 'm-1',
      refused: 'refused/m-1.json',
      faults: [expect.any(String), expect.any(String)],
    },
    { msg: 'job started', ...about, receives: 1 },
    { msg: 'job not done', ...about, after: 'later', tookMs: 0, err: { message: expect.any(String) } },
    { msg: 'job started', ...about },
    { msg: 'job ended', ...about, status: 'done', attempts: 1, tookMs: 0, result: expect.any(String) },
  ]);
});

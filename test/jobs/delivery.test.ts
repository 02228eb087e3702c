import { beforeEach, describe, expect, test } from 'vitest';
import { createDelivery } from '../../lib/jobs/delivery.ts';
import type { Claim } from '../../lib/jobs/ledger/job-row.ts';
import { createLedger, type Ledger } from '../../lib/jobs/ledger/ledger.ts';
import type { SentAnswer } from '../../lib/jobs/ledger/transitions.ts';
import { JobLostError, JobRefusedError, RequeueError } from '../../lib/jobs/send-context.ts';
import type { Job } from '../../lib/jobs/types/job-types.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import { runFunctionJob } from './fake-worker.ts';

type DeliveryOptions = Parameters<typeof createDelivery>[0];

const claim: Claim = {
  id: 'job-1',
  state: 'CLAIMED',
  fence: 1,
  leaseUntilMs: 100_000,
  attempts: 0,
  takeovers: 0,
  dt: '2026-11-21',
  createdAt: 0,
};
const sent: SentAnswer = { kind: 'sent', claim: { ...claim, state: 'SENT', attempts: 1 } };
const request = { id: 'job-1', type: 'run-function', contentHash: 'hash', sender: 'me' };

const repeatable: Job = { ...runFunctionJob, onUnknown: 'retry' };

const now = { ms: 10_000 };

beforeEach(() => {
  now.ms = 10_000;
});

/** The context of a claimed job, over a ledger that returns these answers in order and logs the calls. */
async function turnOver(
  answers: readonly (SentAnswer | Error)[],
  {
    deadlineMs,
    row = claim,
    isClaimed = true,
    parts,
    progress = async () => ({ kind: 'held', claim: row }),
    ...more
  }: Partial<DeliveryOptions> & {
    readonly deadlineMs?: number;
    readonly row?: Claim;
    readonly isClaimed?: boolean;
    readonly parts?: Partial<DeliveryOptions['worker']>;
    readonly progress?: Ledger['progress'];
  } = {},
) {
  const log: string[] = [];
  const claims: object[] = [];
  const remaining = [...answers];
  const stop = new AbortController();
  const ledger: Ledger = {
    ...createLedger({ table: createMemoryTable(), now: () => now.ms }),
    async claim(_, { sends, isAlone }) {
      claims.push({ sends, isAlone });
      return { kind: 'claimed', claim: row };
    },
    async sent() {
      log.push('sent');
      const answer = remaining.shift();
      if (answer instanceof Error) throw answer;
      return answer ?? { kind: 'lost', row: undefined };
    },
    async read() {
      log.push(`read at ${now.ms}`);
      return claim;
    },
    progress(holder) {
      log.push('progress');
      return progress(holder);
    },
  };
  const held = createDelivery({
    ...{ job: repeatable, request, isNew: true },
    worker: {
      ...{ ledger, store: createMemoryStore(), now: () => now.ms, maxSendMs: () => 60_000 },
      sleep: async () => undefined,
      ...parts,
    },
    lease: {
      deadlineMs,
      leaseMs: 90_000,
      writeUntilMs: () => Number.POSITIVE_INFINITY,
      holdLease: () => ({ signal: stop.signal, [Symbol.asyncDispose]: async () => undefined }),
    },
    slot: { isAlone: true, share: () => void log.push('share'), [Symbol.dispose]: () => undefined },
    ...more,
  });
  if (isClaimed) await held.claim();
  return { held, context: held.context, log, claims, stop };
}

test('a delivery writes the state SENT once, however many calls a job makes', async () => {
  const { held, context, log } = await turnOver([sent]);

  await Promise.all([context.beforeSend(), context.beforeSend()]);
  await context.beforeSend();

  expect(log).toEqual(['sent']);
  expect(held.row()?.attempts).toBe(1);
});

test('a delivery sends nothing if SENT could not be written, and writes it again for the next call', async () => {
  const { context, log } = await turnOver([new Error('the table is unavailable'), sent]);

  await expect(context.beforeSend()).rejects.toThrow('the table is unavailable');
  await context.beforeSend();

  expect(log).toEqual(['sent', 'sent']);
});

test('the first request may leave up to two seconds after SENT is written, and later ones at any time', async () => {
  const { held, context } = await turnOver([sent], { job: { ...runFunctionJob, onUnknown: 'fail' } });
  await context.beforeSend();
  now.ms += 2_001;
  expect(context.onSend).toThrow(RequeueError);
  expect(held.requestSent()).toBe(false);
  now.ms -= 1;

  context.onSend();
  now.ms += 60_000;
  await context.beforeSend();
  context.onSend();

  expect(held.requestSent()).toBe(true);
});

test('a delivery sends nothing if the row that SENT replaced was cancelled', async () => {
  const { context } = await turnOver([{ kind: 'sent', claim: { ...claim, cancelled: true } }]);
  await context.beforeSend();

  expect(context.onSend).toThrow(JobRefusedError);
});

test('a delivery sends nothing that could outlast the lease or the deadline', async () => {
  const late = await turnOver([{ kind: 'sent', claim: { ...claim, leaseUntilMs: 69_999 } }], {
    deadlineMs: 200_000,
  });
  await expect(late.context.beforeSend()).rejects.toThrow('59999 ms are left, and a send may take longer');

  const expired = await turnOver([{ kind: 'sent', claim: { ...claim, leaseUntilMs: 10_000 } }]);
  await expect(expired.context.beforeSend()).rejects.toBeInstanceOf(RequeueError);

  const { context, log } = await turnOver([sent], { deadlineMs: 69_999 });
  await expect(context.beforeSend()).rejects.toThrow('59999 ms are left, and a send may take longer');
  expect(log).toEqual([]);
});

test('a delivery sends nothing once the lease is lost, whether SENT was written or not', async () => {
  const unsent = await turnOver([sent]);
  unsent.stop.abort(new Error('lease lost'));
  await expect(unsent.context.beforeSend()).rejects.toThrow('lease lost');
  expect(unsent.log).toEqual([]);

  const { held, context, stop } = await turnOver([sent]);
  await context.beforeSend();
  stop.abort(new Error('lease lost'));
  expect(context.onSend).toThrow('lease lost');
  expect(held.requestSent()).toBe(false);
});

test('a delivery checks the time again when a call leaves, since the call may have been prepared late', async () => {
  const { context } = await turnOver([sent], { deadlineMs: 70_000 });
  await context.beforeSend();
  context.onSend();

  now.ms = 10_001;

  expect(context.onSend).toThrow(RequeueError);
});

test('a delivery sends while there is just enough time', async () => {
  const leaseUntilMs = 70_000;
  const late = await turnOver([{ kind: 'sent', claim: { ...claim, leaseUntilMs } }], { deadlineMs: 200_000 });
  const renewed = await turnOver([{ kind: 'sent', claim: { ...claim, leaseUntilMs: 10_001 } }]);

  await late.context.beforeSend();
  await renewed.context.beforeSend();
  late.context.onSend();
  renewed.context.onSend();

  expect([late.held.requestSent(), renewed.held.requestSent()]).toEqual([true, true]);
});

test('the first request of a job that may be repeated may leave long after SENT is written', async () => {
  const { held, context } = await turnOver([sent]);
  await context.beforeSend();
  now.ms += 60_000;

  context.onSend();

  expect(held.requestSent()).toBe(true);
});

test('a job that another worker has sends nothing, and its row stays known', async () => {
  const { held, context } = await turnOver([]);

  await expect(context.beforeSend()).rejects.toThrow(JobLostError);

  expect(held.row()).toEqual(claim);
});

test('a claim records a send only if a request follows', async () => {
  const waiting = await turnOver([]);
  const sending = await turnOver([], { isClaimed: false });
  await sending.context.beforeSend();

  expect([waiting.claims, sending.claims]).toEqual([
    [{ sends: false, isAlone: true }],
    [{ sends: true, isAlone: true }],
  ]);
});

test.each([
  [undefined, true],
  [{ isAlone: true, share() {}, [Symbol.dispose]() {} }, true],
  [{ isAlone: false, share() {}, [Symbol.dispose]() {} }, false],
])('a claim records whether the job runs alone, as it does without slots: %o', async (slot, isAlone) => {
  const { claims } = await turnOver([], { slot });

  expect(claims).toEqual([{ sends: false, isAlone }]);
});

test('a delivery that was closed, or has ended, claims nothing', async () => {
  const closed = await turnOver([], { isClaimed: false });
  const ended = await turnOver([], { isClaimed: false });
  await closed.held.close();
  await ended.held[Symbol.asyncDispose]();

  await expect(closed.context.beforeSend()).rejects.toThrow(JobLostError);
  await expect(ended.context.beforeSend()).rejects.toThrow(JobLostError);

  expect([closed.claims, ended.claims]).toEqual([[], []]);
});

test('what a job holds is released when its delivery ends', async () => {
  const { held, context, log } = await turnOver([]);
  context.hold?.(() => void log.push('released'));
  expect(log).toEqual([]);

  await held[Symbol.asyncDispose]();

  expect(log).toEqual(['released']);
});

test('a job that sends one request does not check whether it was cancelled', async () => {
  const { context, log } = await turnOver([sent]);
  now.ms = 20_000;

  await context.beforeSend();

  expect(log).toEqual(['sent']);
});

describe('after a failed call, the platform counts as unavailable', () => {
  const breakerOf = (blockedMs: () => Promise<number | undefined>, knownMs: number | undefined) => ({
    blockedMs,
    knownBlockedMs: () => knownMs,
    knownOutageMs: () => undefined,
  });
  const hangs = () => new Promise<never>(() => undefined);
  const untilAborted = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

  test.each([
    [5, true],
    [undefined, false],
  ])('if a harmless read says so, for %s ms: %s', async (blockedMs, expected) => {
    const signals: (AbortSignal | undefined)[] = [];
    const sleep = (ms: number, signal?: AbortSignal) => {
      signals.push(signal);
      return untilAborted(ms, signal);
    };
    const breaker = breakerOf(async () => blockedMs, undefined);
    const { context } = await turnOver([], { parts: { breaker, sleep } });

    expect(await context.isPlatformUnavailable?.()).toBe(expected);

    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test.each([
    [undefined, 30_000, 5, true],
    [100_000, 30_000, undefined, false],
    [17_000, 7_000, 5, true],
  ])(
    'if its last read says so, with a deadline at %s after %i ms: %s',
    async (deadlineMs, ms, knownMs, expected) => {
      const slept: number[] = [];
      const sleep = async (waitMs: number) => void slept.push(waitMs);
      const parts = { breaker: breakerOf(hangs, knownMs), sleep };
      const { context } = await turnOver([], { parts, ...(deadlineMs && { deadlineMs }) });

      expect(await context.isPlatformUnavailable?.()).toBe(expected);

      expect(slept).toEqual([ms]);
    },
  );

  test('if its last read says so, once the worker must stop', async () => {
    const stopping = new AbortController();
    const parts = { breaker: breakerOf(hangs, 5), sleep: untilAborted };
    const lease = {
      ...{ deadlineMs: undefined, leaseMs: 90_000, writeUntilMs: () => 0, stop: stopping.signal },
      holdLease: () => ({ signal: AbortSignal.any([]), [Symbol.asyncDispose]: async () => undefined }),
    };
    const { context } = await turnOver([], { parts, lease });
    const asked = context.isPlatformUnavailable?.();

    stopping.abort(new Error('stop'));

    expect(await asked).toBe(true);
  });

  test('never, if nothing watches it', async () => {
    const { context } = await turnOver([]);

    expect(await context.isPlatformUnavailable?.()).toBe(false);
  });
});

test('a delivery reports until when a send may start, if there is a deadline', async () => {
  expect((await turnOver([], { deadlineMs: 200_000 })).context.lastSendMs).toBe(140_000);
  expect((await turnOver([])).context.lastSendMs).toBeUndefined();
});

test('a delivery checks whether its job was cancelled once three seconds have passed', async () => {
  const { context, log } = await turnOver([sent], {
    job: { version: 1, type: 'data-files', id: 'job-1', ids: ['1'] },
  });

  for (const atMs of [12_999, 13_000, 15_999, 16_000]) {
    now.ms = atMs;
    await context.beforeSend();
  }

  expect(log).toEqual(['sent', 'read at 13000', 'read at 16000']);
});

describe('progress of a job', () => {
  const dying = { ...claim, takeovers: 3 };

  test('with which workers died is recorded once, and lets other jobs run beside it', async () => {
    const { context, log } = await turnOver([], { row: dying });

    await context.onProgress?.();
    await context.onProgress?.();

    expect(log).toEqual(['progress', 'share']);
  });

  test('that was made before the job was claimed is not recorded', async () => {
    const { context, log } = await turnOver([], { row: dying, isClaimed: false });

    await context.onProgress?.();

    expect(log).toEqual([]);
  });

  test('with which no worker died is not recorded', async () => {
    const { context, log } = await turnOver([]);

    await context.onProgress?.();

    expect(log).toEqual([]);
  });

  test.each<[string, Ledger['progress']]>([
    ['the job is lost', async () => ({ kind: 'lost', row: undefined })],
    ['the table is unavailable', () => Promise.reject(new Error('the table is unavailable'))],
  ])('leaves the job alone if it cannot be recorded: %s', async (_, progress) => {
    const { context, log } = await turnOver([], { row: dying, progress });

    await context.onProgress?.();

    expect(log).toEqual(['progress']);
  });
});

test('errors that end a delivery on purpose are logged without a stack', () => {
  const errors = [new RequeueError('x', 0), new JobLostError('x'), new JobRefusedError('cancelled', 'x')];

  expect(errors.map(({ isRefusal }) => isRefusal)).toEqual([true, true, true]);
});

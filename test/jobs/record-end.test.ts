import { describe, expect, test } from 'vitest';
import type { Lease } from '../../lib/jobs/delivery.ts';
import type { Worker } from '../../lib/jobs/handle-message.ts';
import type { Ledger } from '../../lib/jobs/ledger/ledger.ts';
import { findLateOutcome, stageLateOutcome } from '../../lib/jobs/record-end.ts';
import { RequeueError } from '../../lib/jobs/send-context.ts';
import type { Runners } from '../../lib/jobs/types/job-types.ts';
import { createLogger } from '../../lib/logger.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import type { Store } from '../../lib/store/store.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { fakeWorker, invocationLease, runFunctionJob } from './fake-worker.ts';

const RESULT = 'results/run-function/dt=2026-11-21/job-1.json';

type Fake = ReturnType<typeof fakeWorker>;

/** A worker whose function succeeds with this response. `runs`: the ids of the executed jobs. */
function succeeding(response = '{"executionId":"e-1"}') {
  const runs: string[] = [];
  const run: Runners['run-function'] = async ({ id }, turn) => {
    await turn.beforeSend();
    turn.onSend();
    runs.push(id);
    return { status: 'done', response };
  };
  const fake = fakeWorker({ 'run-function': run });
  return { fake, runs };
}

const unavailable = () => new TableError('put job#job-1', { kind: 'busy', code: 'ThrottlingException' });

/** The worker with a ledger whose `steps` fail until `untilMs`. */
function withLedger({ worker, clock }: Fake, steps: readonly (keyof Ledger)[], untilMs: number): Worker {
  const failing = Object.fromEntries(
    steps.map((name) => [
      name,
      async (...args: readonly unknown[]) => {
        if (clock.nowMs < untilMs) throw unavailable();
        return (worker.ledger[name] as (...given: readonly unknown[]) => unknown)(...args);
      },
    ]),
  );
  return { ...worker, ledger: { ...worker.ledger, ...failing } };
}

const withoutStore = (worker: Worker): Worker => ({
  ...worker,
  store: { ...worker.store, put: () => Promise.reject(new Error('S3 is unavailable')) } satisfies Store,
});

/** Runs the job in an invocation that never succeeds in recording its end in the ledger. */
async function runWithUnrecordedEnd(fake: Fake, change: (worker: Worker) => Worker = (worker) => worker) {
  const worker = change(withLedger(fake, ['end'], Number.POSITIVE_INFINITY));
  await expect(fake.handle(runFunctionJob, { worker })).rejects.toThrow(/^put job#job-1|^no response/);
}

/** Delivers the message again after the lease has ended. */
function redeliver(fake: Fake, worker = fake.worker) {
  fake.clock.nowMs += 200_000;
  return fake.handle(runFunctionJob, { message: { messageId: 'm-2' }, worker });
}

describe('while the table is unavailable', () => {
  test('a large response is staged once, and found by the next delivery', async () => {
    const { fake } = succeeding(JSON.stringify({ text: 'x'.repeat(500_000) }));
    const put: unknown[] = [];
    await runWithUnrecordedEnd(fake, (worker) => ({
      ...worker,
      store: {
        ...worker.store,
        put: (key, body, options) => {
          put.push([key, options?.contentType]);
          return worker.store.put(key, body, options);
        },
      },
    }));

    await redeliver(fake);

    expect(put).toEqual([
      [expect.stringMatching(/^work\/outcomes\/job-1\/1-[0-9a-f]{12}\.json$/), 'application/json'],
      ['work/outcomes/job-1/late-1795251600000-1.json', 'application/json'],
    ]);
    expect(await fake.stored(RESULT)).toMatchObject({
      status: 'done',
      response: { text: 'x'.repeat(500_000) },
    });
  });

  test('a write that hangs prevents neither the outcome from being staged nor the invocation from responding', async () => {
    const { fake } = succeeding();
    const { nowMs } = fake.clock;
    await runWithUnrecordedEnd(fake, (worker) => ({
      ...worker,
      ledger: { ...worker.ledger, end: () => new Promise(() => undefined) },
    }));
    expect(fake.clock.nowMs).toBe(nowMs + 120_000);

    await redeliver(fake);

    expect(await fake.stored(RESULT)).toMatchObject({ status: 'done' });
  });

  test('and the store is too, the message is not acknowledged, and storing the outcome is retried until the end', async () => {
    const { fake, runs } = succeeding();
    const { nowMs } = fake.clock;
    await runWithUnrecordedEnd(fake, withoutStore);
    expect(fake.clock.nowMs).toBeGreaterThan(nowMs + 110_000);

    await redeliver(fake);

    expect(runs).toEqual(['job-1']);
    expect(await fake.stored(RESULT)).toMatchObject({ status: 'unknown', error: { kind: 'answer-lost' } });
  });

  test('and the store was too for 20 s, the outcome is staged as soon as the store responds', async () => {
    const { fake, runs } = succeeding();
    const backAtMs = fake.clock.nowMs + 20_000;
    await runWithUnrecordedEnd(fake, (worker) => ({
      ...worker,
      store: {
        ...worker.store,
        put: async (...given) => {
          if (fake.clock.nowMs < backAtMs) throw new Error('S3 is unavailable');
          return worker.store.put(...given);
        },
      },
    }));

    await redeliver(fake);

    expect(runs).toEqual(['job-1']);
    expect(await fake.stored(RESULT)).toMatchObject({ status: 'done', response: { executionId: 'e-1' } });
  });

  test('a recorded send of a request that never left is withdrawn', async () => {
    const { fake, runs } = succeeding();
    const { ledger } = fake;
    const failing = withLedger(fake, ['release'], fake.clock.nowMs + 20_000);
    const claim: Ledger['claim'] = async (request, options) => {
      await ledger.claim(request, options);
      throw unavailable();
    };

    const worker = { ...failing, ledger: { ...failing.ledger, claim } };
    await expect(fake.handle(runFunctionJob, { worker })).rejects.toThrow(TableError);

    expect(runs).toEqual([]);
    expect(await ledger.read('job-1')).toMatchObject({ state: 'CLAIMED', attempts: 0 });
    expect(await ledger.read('job-1')).not.toHaveProperty('leaseUntilMs');
  });
});

describe('a claim whose response was lost, and whose job another worker has called unknown,', () => {
  /** A worker whose first claim is stored, but only gets an error once another worker has ended the job. */
  function losing(tries: number) {
    let left = tries;
    const fake: Fake = fakeWorker({
      'run-function': async (_, turn) => {
        for (; left > 1; left -= 1) await turn.beforeSend().catch(() => undefined);
        await turn.beforeSend();
        turn.onSend();
        return { status: 'done', response: '{"executionId":"e-1"}' };
      },
    });
    const { ledger } = fake;
    let isLost = true;
    const claim: Ledger['claim'] = async (request, options) => {
      const answer = await ledger.claim(request, options);
      if (!isLost) return answer;
      isLost = false;
      await redeliver(fake);
      throw unavailable();
    };
    return { fake, worker: { ...fake.worker, ledger: { ...ledger, claim } } };
  }

  test.each([1, 2])('proves that nothing was sent, after %i tries, and the job runs again', async (tries) => {
    const { fake, worker } = losing(tries);

    const handled = await fake.handle(runFunctionJob, { worker });
    await redeliver(fake);

    expect(handled).toEqual({ kind: 'replace', body: JSON.stringify(runFunctionJob) });
    expect(fake.finished.map(({ status }) => status)).toEqual(['unknown', 'failed']);
    expect(await fake.stored(RESULT)).toMatchObject({ error: { kind: 'never-sent' } });
  });
});

test('what happens to an outcome that the table does not take is logged with the job', async () => {
  const { fake } = succeeding();
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', (line) => void lines.push(JSON.parse(line)));

  await runWithUnrecordedEnd(fake, (worker) => ({ ...worker, logger }));
  await runWithUnrecordedEnd(succeeding().fake, (worker) => withoutStore({ ...worker, logger }));

  const of = (msg: string) => lines.find((line) => line['msg'] === msg);
  expect(of('outcome not recorded yet')).toMatchObject({
    job: 'job-1',
    err: { message: expect.any(String) },
  });
  expect(of('outcome staged in the store')).toMatchObject({ job: 'job-1' });
  expect(of('outcome not staged')).toMatchObject({ job: 'job-1', err: { message: expect.any(String) } });
});

test('a call that fails while the claim for another call is written leaves the job free', async () => {
  const claiming = Promise.withResolvers<void>();
  const job = { version: 1, type: 'data-files', id: 'job-1', ids: ['1', '2'] };
  const fake = fakeWorker({
    'data-files': async (_, turn) => {
      await Promise.all([turn.beforeSend(), Promise.reject(new RequeueError('its turn is far off', 7_000))]);
      return { status: 'done', response: '1' };
    },
  });
  const { ledger } = fake;
  const claim: Ledger['claim'] = async (request, options) => {
    await claiming.promise;
    return ledger.claim(request, options);
  };

  const worker = { ...fake.worker, ledger: { ...ledger, claim } };
  const handling = fake.handle(job, { worker });
  await fake.worker.sleep(1);
  claiming.resolve();

  expect(await handling).toEqual({ kind: 'later', delayMs: 7_000 });
  expect(await ledger.read('job-1')).toMatchObject({ state: 'CLAIMED', attempts: 0 });
  expect(await ledger.read('job-1')).not.toHaveProperty('leaseUntilMs');
});

test('a call that gets its slot after another call has failed does not claim the job', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const fake = fakeWorker({
    'data-files': async (_, turn) => {
      late = fake.worker.sleep(1).then(() => turn.beforeSend());
      late.catch(() => undefined);
      throw new RequeueError('its turn is far off', 7_000);
    },
  });
  const job = { version: 1, type: 'data-files', id: 'job-1', ids: ['1', '2'] };

  const handled = await fake.handle(job);

  expect(handled).toEqual({ kind: 'later', delayMs: 7_000 });
  await expect(late).rejects.toThrow('another worker has it now');
  expect(await fake.ledger.read('job-1')).toBeUndefined();
});

describe('a job whose lease expired after its send', () => {
  test('does not become unknown while the store is unavailable', async () => {
    const { fake } = succeeding();
    await runWithUnrecordedEnd(fake);
    const store = { ...fake.worker.store, get: () => Promise.reject(new Error('S3 is unavailable')) };

    await expect(redeliver(fake, { ...fake.worker, store })).rejects.toThrow('S3 is unavailable');

    expect(await fake.ledger.read('job-1')).toMatchObject({ state: 'SENT' });
  });

  test('does not end with the outcome of an earlier job with its id', async () => {
    const { fake } = succeeding();
    const sent = { id: 'job-1', createdAt: fake.clock.nowMs, fence: 1 };

    await stageLateOutcome(fake.store, sent, { status: 'done', response: '1' });

    expect(await findLateOutcome(fake.store, sent)).toEqual({ status: 'done', response: '1' });
    expect(await findLateOutcome(fake.store, { ...sent, createdAt: sent.createdAt + 1 })).toBeUndefined();
    expect(await findLateOutcome(fake.store, { ...sent, fence: 2 })).toBeUndefined();
  });

  test('is unknown if the staged value is not an outcome', async () => {
    const { fake } = succeeding();
    await runWithUnrecordedEnd(fake, withoutStore);
    await fake.store.put('work/outcomes/job-1/late-1795251600000-1.json', Buffer.from('{"version":1'));

    await redeliver(fake);

    expect(await fake.stored(RESULT)).toMatchObject({ status: 'unknown' });
  });
});

describe('a lease that is lost while the response is on its way', () => {
  const lossy = (fake: Fake, lost: AbortController): Lease => ({
    ...invocationLease(fake),
    deadlineMs: undefined,
    leaseMs: 9_000,
    holdLease: () => ({ signal: lost.signal, [Symbol.asyncDispose]: async () => undefined }),
  });

  test('or before the request left makes a job that another worker called unknown fail, and run again', async () => {
    let runs = 0;
    const fake: Fake = fakeWorker({
      'run-function': async (_, turn) => {
        await turn.beforeSend();
        runs += 1;
        if (runs === 1) await redeliver(fake);
        turn.onSend();
        return { status: 'done', response: '{"executionId":"e-1"}' };
      },
    });
    const lease = lossy(fake, new AbortController());

    const handled = await fake.handle(runFunctionJob, { lease });

    expect(handled).toEqual({ kind: 'replace', body: JSON.stringify(runFunctionJob) });
    expect(await fake.ledger.read('job-1')).toMatchObject({ state: 'UNKNOWN', attempts: 1 });
    const proved = await redeliver(fake);

    expect(proved).toEqual({ kind: 'replace', body: JSON.stringify(runFunctionJob) });
    expect(await fake.stored(RESULT)).toMatchObject({ status: 'failed', error: { kind: 'never-sent' } });
    expect(await fake.ledger.read('job-1')).toMatchObject({ state: 'FAILED', attempts: 0 });
    await redeliver(fake);
    expect(fake.finished.map(({ status }) => status)).toEqual(['unknown', 'failed', 'done']);
    expect(await fake.stored(RESULT)).toMatchObject({ status: 'done', attempts: 1 });
  });

  test('lets the next worker find the response if another worker has called the job unknown', async () => {
    const fake: Fake = fakeWorker({
      'run-function': async (_, turn) => {
        await turn.beforeSend();
        turn.onSend();
        await redeliver(fake);
        return { status: 'done', response: '{"executionId":"e-1"}' };
      },
    });

    const handled = await fake.handle(runFunctionJob, { lease: lossy(fake, new AbortController()) });
    await redeliver(fake);

    expect(handled).toEqual({ kind: 'replace', body: JSON.stringify(runFunctionJob) });
    expect(await fake.stored(RESULT)).toMatchObject({ status: 'done', response: { executionId: 'e-1' } });
  });

  test('leaves the job to the worker that has it now', async () => {
    const job = { version: 1, type: 'data-files', id: 'job-1', ids: ['1'] };
    let runs = 0;
    const fake: Fake = fakeWorker({
      'data-files': async (_, turn) => {
        await turn.beforeSend();
        turn.onSend();
        runs += 1;
        if (runs === 1) {
          fake.clock.nowMs += 200_000;
          await fake.handle(job, { message: { receives: 2 } });
        }
        return { status: 'done', response: `${runs}` };
      },
    });

    const handled = await fake.handle(job, { lease: lossy(fake, new AbortController()) });

    expect(handled).toEqual({ kind: 'later', delayMs: 1_000 });
    expect(fake.finished).toHaveLength(1);
  });

  test.each([
    [false, { state: 'CLAIMED', attempts: 0 }],
    [true, { state: 'SENT', attempts: 1 }],
  ])('ends the work without a count, and a request that left (%s) stays recorded', async (leaves, row) => {
    const lost = new AbortController();
    const fake = fakeWorker({
      'run-function': async (_, turn) => {
        await turn.beforeSend();
        if (leaves) turn.onSend();
        lost.abort(new Error('lease lost'));
        throw new Error('the work was aborted');
      },
    });

    const handled = await fake.handle(runFunctionJob, { lease: lossy(fake, lost) });

    expect(handled).toEqual({ kind: 'later', delayMs: 9_000 });
    const stored = await fake.ledger.read('job-1');
    expect(stored).toMatchObject(row);
    expect(stored).not.toHaveProperty('unsentTries');
  });

  test('does not hide a refusal: nothing was executed, so the job is not unknown', async () => {
    const lost = new AbortController();
    const context = { operation: 'runFunction', about: 'function add', attempts: 1 };
    const fake = fakeWorker({
      'run-function': async (_, turn) => {
        await turn.beforeSend();
        turn.onSend();
        lost.abort(new Error('lease lost'));
        throw new PlatformError({ kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' }, context);
      },
    });

    const handled = await fake.handle(runFunctionJob, { lease: lossy(fake, lost) });

    expect(handled).toMatchObject({ kind: 'later' });
    expect(await fake.ledger.read('job-1')).toMatchObject({ state: 'CLAIMED' });
  });
});

import { expect, test } from 'vitest';
import type { Outcome } from '../../lib/jobs/ledger/job-row.ts';
import { redriveFailed } from '../../lib/jobs/redrive.ts';
import { findResult } from '../../lib/jobs/result.ts';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';
import { memoryQueue } from './memory-queue.ts';

const LARGE = JSON.stringify({ text: 'x'.repeat(200_000) });
const FOLDER = 'results/run-function/dt=2026-11-21/';
const failure: Outcome = { status: 'failed', error: { kind: 'status', message: 'no luck' } };

type Fake = ReturnType<typeof fakeWorker>;

const run = (fake: Fake, id: string) => fake.handle({ ...runFunctionJob, id });

const keysIn = ({ store }: Fake, prefix: string) => Array.fromAsync(store.list(prefix), ({ key }) => key);

test.each(['.', '..', '_a', '.a', 'con', 'A:b', 'X'.repeat(128)])(
  'the job %s is done, with a large response and a result that SQL engines can read',
  async (id) => {
    const fake = fakeWorker({
      'run-function': async () => ({ status: 'done', response: LARGE }),
    });

    await run(fake, id);

    const [key = ''] = await keysIn(fake, FOLDER);
    expect(key.slice(FOLDER.length)).toMatch(/^[a-z0-9!-][a-z0-9!._-]{0,249}$/);
    expect(await fake.stored(key)).toMatchObject({
      id,
      status: 'done',
      response: { text: expect.any(String) },
    });
    expect(await findResult(fake.store, { ...runFunctionJob, id, dt: '2026-11-21' })).toBeDefined();
  },
);

test('two jobs whose ids differ only in case have results whose names differ even without case', async () => {
  const fake = fakeWorker({ 'run-function': async () => ({ status: 'done', response: '1' }) });

  await run(fake, 'Job');
  await run(fake, 'job');

  const names = (await keysIn(fake, FOLDER)).map((key) => key.toLowerCase());
  expect(new Set(names).size).toBe(2);
});

test.each(['..', '_a', 'A:b'])(
  'the failed job %s is found by its id, and in the list of all jobs',
  async (id) => {
    const fake = fakeWorker({ 'run-function': async () => failure });
    await run(fake, id);

    expect(await redriveFailed([], { ...fake, queue: memoryQueue() })).toMatchObject({ opened: [id] });
    expect(await redriveFailed([id], { ...fake, queue: memoryQueue() })).toMatchObject({ opened: [id] });
  },
);

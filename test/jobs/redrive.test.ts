import { expect, test } from 'vitest';
import type { Outcome } from '../../lib/jobs/ledger/job-row.ts';
import { UnsentError } from '../../lib/jobs/queue/queue.ts';
import { executedJobs, moveDeadLetters, redriveFailed } from '../../lib/jobs/redrive.ts';
import { fakeWorker, runFunctionJob } from './fake-worker.ts';
import { forgetfulQueue } from './forgetful-queue.ts';
import { memoryQueue } from './memory-queue.ts';

const failure: Outcome = { status: 'failed', error: { kind: 'status', message: 'no right', status: 403 } };
const ran: Outcome = { status: 'failed', error: { kind: 'execution', message: 'no luck' } };
const RESULT = 'results/run-function/dt=2026-11-21/job-1.json';

test('a failed job is reopened, runs again, and gets the new result', async () => {
  const outcomes: Outcome[] = [failure, { status: 'done', response: '1' }];
  const fake = fakeWorker({ 'run-function': async () => outcomes.shift() ?? failure });
  await fake.handle(runFunctionJob);
  const queue = memoryQueue();

  const redriven = await redriveFailed([], { ...fake, queue });

  expect(redriven).toEqual({ opened: ['job-1'], left: [], notSent: [] });
  fake.clock.nowMs += 60_000;
  const [message] = await queue.receive({ max: 10, waitSeconds: 0, visibilitySeconds: 60 });
  await fake.handle(message?.body ?? '');
  expect(await fake.stored(RESULT)).toMatchObject({ status: 'done', response: 1 });
});

test('a failed job that the platform has executed is reopened only by its id, or if all such jobs are requested', async () => {
  const fake = fakeWorker({ 'run-function': async () => ran });
  for (const id of ['job-1', 'job-2']) await fake.handle({ ...runFunctionJob, id });
  const parts = { ...fake, queue: memoryQueue() };

  const all = await redriveFailed([], parts);
  const listed = await executedJobs([], parts);
  const named = await redriveFailed(['job-1'], parts);
  const executed = await redriveFailed([], { ...parts, executed: true });

  expect(all).toEqual({
    opened: [],
    left: ['job-1', 'job-2'].map((id) => ({ id, status: 'failed', why: 'executed' })),
    notSent: [],
  });
  expect(listed.map(({ id }) => id)).toEqual(['job-1', 'job-2']);
  expect(named.opened).toEqual(['job-1']);
  expect(executed.opened).toContain('job-2');
});

const formula = { version: 1, type: 'update-formula', id: 'f1', calculationId: '12', expression: 'A' };

test.each<[string, Outcome]>([
  ['stored as INVALID', { status: 'failed', error: { kind: 'invalid-formula', message: 'it is stored' } }],
  ['refused', failure],
])('a formula that was %s is not set again over a later one', async (_, first) => {
  const outcomes: Outcome[] = [first, first];
  const fake = fakeWorker({
    'update-formula': async () => outcomes.shift() ?? { status: 'done', response: 'null' },
  });
  const parts = { ...fake, queue: memoryQueue() };
  for (const job of [formula, { ...formula, id: 'f2', calculationId: '13' }]) await fake.handle(job);
  fake.clock.nowMs += 1_000;
  await fake.handle({ ...formula, id: 'f3', expression: 'B' });

  const redriven = await redriveFailed(['f1', 'f2'], parts);

  expect(redriven).toMatchObject({
    opened: ['f2'],
    left: [{ id: 'f1', status: 'failed', why: 'another formula was set at 2026-11-21T09:00:01.000Z' }],
  });
});

test('a dead letter without an id is requeued with the id of its message', async () => {
  const { id: _, ...job } = runFunctionJob;
  const score = { version: 1, type: 'score', texts: [{ id: 'a', text: 'fine' }] };
  const dead = memoryQueue([JSON.stringify(job), JSON.stringify(score), JSON.stringify(runFunctionJob)]);
  const queue = memoryQueue();

  await moveDeadLetters({ from: dead, to: queue });

  expect(queue.bodies().map((body) => JSON.parse(body))).toEqual([
    { ...job, id: 'm-1' },
    score,
    runFunctionJob,
  ]);
});

test('redrive does not change a job that is unknown, done or missing', async () => {
  const unknown: Outcome = { status: 'unknown', error: { kind: 'timeout', message: 'no response' } };
  const fake = fakeWorker({ 'run-function': async () => unknown });
  await fake.handle(runFunctionJob);
  const queue = memoryQueue();

  const redriven = await redriveFailed(['job-1', 'job-2'], { ...fake, queue });

  expect(redriven).toEqual({
    opened: [],
    left: [
      { id: 'job-1', status: 'unknown', why: null },
      { id: 'job-2', status: null, why: 'not known' },
    ],
    notSent: [],
  });
  expect(queue.bodies()).toEqual([]);
});

test('redrive without ids names a job that is done only if it had failed before', async () => {
  const outcomes: Outcome[] = [failure];
  const fake = fakeWorker({
    'run-function': async () => outcomes.shift() ?? { status: 'done', response: '1' },
  });
  const parts = { ...fake, queue: memoryQueue() };
  for (const id of ['job-1', 'job-2']) await fake.handle({ ...runFunctionJob, id });
  const before = await redriveFailed([], parts);
  fake.clock.nowMs += 60_000;
  await fake.handle(runFunctionJob);

  const [first, second] = [await redriveFailed([], parts), await redriveFailed([], parts)];

  expect(before).toEqual({ opened: ['job-1'], left: [], notSent: [] });
  expect(first).toEqual({ opened: [], left: [{ id: 'job-1', status: 'done', why: null }], notSent: [] });
  expect(second.left).toEqual([]);
});

test('redrive does not change a failed job whose row has expired, and continues with the other jobs', async () => {
  const fake = fakeWorker({ 'run-function': async () => failure });
  await fake.handle({ ...runFunctionJob, id: 'expired' });
  await fake.handle(runFunctionJob);
  const { table } = fake.batches;
  const key = { partition: 'job#expired', sort: '-' };
  await table.delete(key, (await table.get(key))?.token ?? '');

  const redriven = await redriveFailed([], { ...fake, queue: memoryQueue() });

  expect(redriven).toMatchObject({
    opened: ['job-1'],
    left: [{ id: 'expired', status: null, why: 'not known' }],
  });
});

test('a redrive that died before it sent a message is completed by the next one', async () => {
  const fake = fakeWorker({ 'run-function': async () => failure });
  await fake.handle(runFunctionJob);
  const unavailable = { send: () => Promise.reject(new Error('the queue is unavailable')) };
  await expect(redriveFailed([], { ...fake, queue: unavailable })).rejects.toThrow(
    'the queue is unavailable',
  );
  const queue = memoryQueue();

  const redriven = await redriveFailed([], { ...fake, queue });

  expect(redriven.opened).toEqual(['job-1']);
  expect(queue.bodies()).toHaveLength(1);
});

const jsonOn = (queue: ReturnType<typeof memoryQueue>) => queue.bodies().map((body) => JSON.parse(body));

test('a job that was cancelled before its message arrived stays cancelled, unless its id is given', async () => {
  const fake = fakeWorker({ 'run-function': async () => failure });
  await fake.ledger.cancel('job-1');
  await fake.handle(runFunctionJob);
  const queue = memoryQueue();

  const all = await redriveFailed([], { ...fake, queue });

  expect(all).toEqual({
    opened: [],
    left: [{ id: 'job-1', status: 'failed', why: 'cancelled' }],
    notSent: [],
  });
  expect(await fake.stored(RESULT)).toMatchObject({ status: 'failed', error: { kind: 'cancelled' } });
  expect(queue.bodies()).toEqual([]);
  expect((await redriveFailed(['job-1'], { ...fake, queue })).opened).toEqual(['job-1']);
  expect(jsonOn(queue)).toEqual([runFunctionJob]);
});

test('an unknown job that a person has settled as failed can be reopened', async () => {
  const unknown: Outcome = { status: 'unknown', error: { kind: 'timeout', message: 'no response' } };
  const fake = fakeWorker({ 'run-function': async () => unknown });
  await fake.handle(runFunctionJob);
  await fake.ledger.resolve('job-1', { status: 'failed', note: 'no such execution' });
  const queue = memoryQueue();

  expect((await redriveFailed(['job-1'], { ...fake, queue })).opened).toEqual(['job-1']);
  expect(jsonOn(queue)).toEqual([runFunctionJob]);
});

/** A queue that rejects every message that contains the word, as SQS rejects an invalid one. */
function refusing(word: string, code = 'InvalidMessageContents') {
  const queue = memoryQueue();
  const cause = Object.assign(new Error('not accepted'), { name: code });
  const send = async (bodies: readonly string[]) => {
    await queue.send(bodies.filter((body) => !body.includes(word)));
    const unsent = bodies.flatMap((body, index) =>
      body.includes(word) ? [{ index, cause, mayBeSent: false }] : [],
    );
    const [first, ...others] = unsent;
    if (first) throw new UnsentError('jobs', bodies.length, [first, ...others]);
  };
  return { ...queue, send };
}

const REFUSED = 'send: InvalidMessageContents: not accepted';

test('a job that cannot be sent again is named, does not block other jobs, and is reopened by the next redrive', async () => {
  const fake = fakeWorker({ 'run-function': async () => failure });
  for (const id of ['job-1', 'job-2', 'job-3']) await fake.handle({ ...runFunctionJob, id });

  const first = await redriveFailed([], { ...fake, queue: refusing('job-2') });
  const second = await redriveFailed(['job-2'], { ...fake, queue: memoryQueue() });

  expect(first).toEqual({ opened: ['job-1', 'job-3'], left: [], notSent: [{ id: 'job-2', error: REFUSED }] });
  expect(second.opened).toEqual(['job-2']);
});

test('a missing queue ends a redrive at the first job', async () => {
  const fake = fakeWorker({ 'run-function': async () => failure });
  for (const id of ['job-1', 'job-2']) await fake.handle({ ...runFunctionJob, id });

  const redrive = redriveFailed([], { ...fake, queue: refusing('job', 'QueueDoesNotExist') });

  await expect(redrive).rejects.toThrow('sent 0 of 1 messages, not number 1: QueueDoesNotExist');
  expect((await fake.ledger.read('job-2'))?.state).toBe('FAILED');
});

test('a dead letter that cannot be sent stays, is named, and does not block other dead letters', async () => {
  const dead = memoryQueue(['a', 'bad', 'c']);
  const queue = refusing('bad');

  const moved = await moveDeadLetters({ from: dead, to: queue });

  expect(moved).toEqual({ moved: 2, notMoved: [{ id: 'm-2', error: REFUSED }], held: 0 });
  expect(queue.bodies()).toEqual(['a', 'c']);
  expect(dead.bodies()).toEqual(['bad']);
});

test('a dead letter that cannot be sent is tried once, though it is received again', async () => {
  const dead = memoryQueue(['held', 'bad']);
  const [, bad] = await dead.receive({ max: 2, waitSeconds: 0, visibilitySeconds: 60 });
  const from = { ...dead, receive: async () => (bad === undefined ? [] : [bad]) };
  const { send } = refusing('bad');
  const sent: string[] = [];
  const to = {
    send: async (bodies: readonly string[]) => {
      sent.push(...bodies);
      await send(bodies);
    },
  };

  const moved = await moveDeadLetters({ from, to, polls: { waitSeconds: 0, emptyPolls: 1 } });

  expect(moved).toEqual({ moved: 0, notMoved: [{ id: 'm-2', error: REFUSED }], held: 1 });
  expect(sent).toEqual(['bad']);
});

test('redrive moves more dead letters than the number of polls that an empty queue gets', async () => {
  const dead = memoryQueue(letters);

  const moved = await moveDeadLetters({
    from: dead,
    to: memoryQueue(),
    polls: { waitSeconds: 0, emptyPolls: 1 },
  });

  expect(moved.moved).toBe(60);
});

const letters = Array.from({ length: 60 }, (_, index) => `letter ${index}`);

test.for([1, 2, 3, 4, 5, 6])(
  'redrive moves all 60 dead letters though short polls miss messages and counts lag: seed %i',
  async (seed) => {
    const dead = forgetfulQueue({ nowMs: 0 }, { seed, bodies: letters });
    const queue = memoryQueue();

    const moved = await moveDeadLetters({ from: dead, to: queue });

    expect(moved).toEqual({ moved: 60, notMoved: [], held: 0 });
    expect(queue.bodies().toSorted()).toEqual(letters.toSorted());
  },
);

test('dead letters that another process holds are counted, and end the wait', async () => {
  const clock = { nowMs: 0 };
  const dead = forgetfulQueue(clock, { seed: 1, bodies: ['a', 'b', 'c'] });
  await dead.receive({ max: 1, waitSeconds: 2, visibilitySeconds: 43_200 });

  const moved = await moveDeadLetters({ from: dead, to: memoryQueue() });

  expect(moved).toEqual({ moved: 2, notMoved: [], held: 1 });
  expect(clock.nowMs).toBeGreaterThan(60_000);
  expect(clock.nowMs).toBeLessThan(180_000);
});

import { expect, test } from 'vitest';
import { handleMessage } from '../../lib/jobs/handle-message.ts';
import type { Outcome } from '../../lib/jobs/ledger/job-row.ts';
import type { Queue } from '../../lib/jobs/queue/queue.ts';
import type { SendContext } from '../../lib/jobs/send-context.ts';
import { runBatch, work } from '../../lib/jobs/work.ts';
import { fakeWorker, invocationLease, messageOf, runFunctionJob } from './fake-worker.ts';
import { memoryQueue } from './memory-queue.ts';

const { id: _, ...unnamed } = runFunctionJob;
const done: Outcome = { status: 'done', response: '1' };

/** A worker that lists the jobs it ran, and a function that drains a queue with it. */
function countingWorker() {
  const ran: string[] = [];
  const run = async ({ id }: { readonly id: string }, { beforeSend }: Pick<SendContext, 'beforeSend'>) => {
    await beforeSend();
    ran.push(id);
    return done;
  };
  const fake = fakeWorker({ 'run-function': run, 'update-formula': run });
  const drain = (queue: Queue) =>
    work({
      worker: fake.worker,
      lease: invocationLease(fake),
      queue,
      concurrency: 1,
      visibilitySeconds: 60,
      drain: true,
      signal: new AbortController().signal,
      sleep: async () => undefined,
    });
  return { ...fake, ran, drain };
}

test('a function without an id is not claimed: its message is replaced by one with an id', async () => {
  const fake = countingWorker();

  const handled = await fake.handle(unnamed, { message: { messageId: 'm-7' } });

  expect(handled).toEqual({ kind: 'replace', body: JSON.stringify({ id: 'm-7', ...unnamed }) });
  expect(fake.ran).toEqual([]);
  expect(await fake.ledger.read('m-7')).toMatchObject({ state: 'CLAIMED', fence: 0 });
});

test('a body is otherwise unchanged, byte for byte, when it gets its id', async () => {
  const fake = countingWorker();
  const body = JSON.stringify(unnamed).replace('}', ', "inputVariables": {"id":12345678901234567890.10}}');

  const handled = await fake.handle(body, { message: { messageId: 'm-7' } });

  expect(handled).toEqual({ kind: 'replace', body: body.replace('{', '{"id":"m-7",') });
});

test('three formula updates A, B, A are all executed', async () => {
  const fake = countingWorker();
  const set = (expression: string) =>
    JSON.stringify({ version: 1, type: 'update-formula', calculationId: '7', expression });

  await fake.drain(memoryQueue([set('A'), set('B'), set('A')]));

  expect(fake.ran).toEqual(['m-1', 'm-2', 'm-3']);
});

test('if the queue refuses the new message, the old one stays, and nothing runs', async () => {
  const fake = countingWorker();
  const queue = {
    ...memoryQueue([JSON.stringify(unnamed)]),
    send: () => Promise.reject(new Error('the queue refuses')),
  };

  const messages = await queue.receive({ max: 1, waitSeconds: 0, visibilitySeconds: 60 });
  const failed = await runBatch(messages, {
    worker: fake.worker,
    lease: invocationLease(fake),
    queue,
    concurrency: 1,
  });

  expect(failed).toEqual(['m-1']);
  expect(queue.bodies()).toHaveLength(1);
  expect(fake.ran).toEqual([]);
});

test('a message is deleted only after the queue accepts its replacement', async () => {
  const fake = countingWorker();
  const memory = memoryQueue([JSON.stringify(unnamed)]);
  let refusals = 2;
  const send: Queue['send'] = async (...given) => {
    refusals -= 1;
    if (refusals >= 0) throw new Error('the queue is away');
    return memory.send(...given);
  };

  const messages = await memory.receive({ max: 1, waitSeconds: 0, visibilitySeconds: 60 });
  const parts = {
    worker: fake.worker,
    lease: invocationLease(fake),
    queue: { ...memory, send },
    concurrency: 1,
  };
  expect(await runBatch(messages, parts)).toEqual([]);

  expect(memory.bodies()).toEqual([JSON.stringify({ id: 'm-1', ...unnamed })]);
});

test('the result names who sent the first message, not the worker that replaced it', async () => {
  const fake = countingWorker();
  await fake.handle(unnamed, { message: { messageId: 'm-7', sender: 'AIDASENDER' } });
  const replaced = { ...messageOf({ ...unnamed, id: 'm-7' }, 'm-8'), sender: 'AROAWORKER' };

  await handleMessage(replaced, fake.worker, invocationLease(fake));

  expect(await fake.stored('results/run-function/dt=2026-11-21/m-7.json')).toMatchObject({
    status: 'done',
    sender: 'AIDASENDER',
  });
});

test('a message that has just enough space for its id is replaced', async () => {
  const fake = countingWorker();
  const rest = 256 * 1_024 - JSON.stringify({ ...unnamed, inputVariables: { x: '' }, id: 'm-7' }).length;
  const full = { ...unnamed, inputVariables: { x: 'x'.repeat(rest) } };

  const handled = await fake.handle(full, { message: { messageId: 'm-7' } });

  expect(handled).toMatchObject({ kind: 'replace' });
});

test('a message that has no space for its id is refused', async () => {
  const fake = countingWorker();
  const rest = 256 * 1_024 - JSON.stringify({ ...unnamed, inputVariables: { x: '' } }).length;
  const full = { ...unnamed, inputVariables: { x: 'x'.repeat(rest) } };

  expect(await fake.handle(full, { message: { messageId: 'm-7' } })).toEqual({ kind: 'done' });

  expect(await fake.stored('refused/m-7.json')).toMatchObject({
    faults: ['message: expected at most 262144 bytes of UTF-8 with its id, got 262155'],
  });
});

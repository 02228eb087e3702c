import { expect, test } from 'vitest';
import { handleMessage } from '../../../lib/jobs/handle-message.ts';
import { splitBatch } from '../../../lib/jobs/texts/batch/score-file.ts';
import { readFormulaLog } from '../../../lib/model/formulas/formula-log.ts';
import { fakeWorker, invocationLease, messageOf } from '../fake-worker.ts';
import { batchOf, world } from '../texts/batch/batch-suite.ts';
import { row } from '../texts/fakes.ts';

test('if a chunk’s job failed, its rows fail with the same error, however often its message is received', async () => {
  const fake = fakeWorker({
    score: async () => ({ status: 'failed', error: { kind: 'trouble', message: 'nobody scored it' } }),
  });
  const { split, messages } = world();
  await splitBatch(batchOf([row(1, 'good'), row(2, 'bad')]), { ...split, ...fake.worker.batches });
  const message = messageOf(messages[0]);

  await handleMessage(message, fake.worker, invocationLease(fake));
  await handleMessage(message, fake.worker, invocationLease(fake));

  expect(await fake.stored('scores/b1/_summary.json')).toMatchObject({ rows: 2, failed: 2 });
});

test('a chunk whose job is done is ended by its runner', async () => {
  const fake = fakeWorker({ score: async () => ({ status: 'done', response: '{}' }) });
  const { split, messages } = world();
  await splitBatch(batchOf([row(1, 'good')]), { ...split, ...fake.worker.batches });

  await fake.handle(messages[0]);

  expect(await fake.stored('scores/b1/_summary.json')).toBeUndefined();
});

test.each([
  ['done', [{ id: '12', expression: '1' }]],
  ['failed', []],
  ['unknown', []],
] as const)('the formula of an update that is %s is logged only if it was set', async (status, logged) => {
  const fake = fakeWorker({ 'update-formula': async () => ({ status, response: '{"id":12}' }) });
  const message = { version: 1, type: 'update-formula', id: 'f', calculationId: '12', expression: '1' };

  await fake.handle(message);

  const log = await Array.fromAsync(readFormulaLog(fake.store, '12'), ({ calculation }) => calculation);
  expect(log).toEqual(logged);
});

test('the formula of an update that failed, since the platform stored it as INVALID, is logged', async () => {
  const error = { kind: 'invalid-formula', message: 'it is stored' };
  const fake = fakeWorker({
    'update-formula': async () => ({ status: 'failed', error, response: '{"id":12}' }),
  });
  const message = { version: 1, type: 'update-formula', id: 'f', calculationId: '12', expression: '1' };

  await fake.handle(message);

  expect(await Array.fromAsync(readFormulaLog(fake.store, '12'))).toHaveLength(1);
});

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type WorkOptions, work } from '../../lib/jobs/work.ts';
import { fakeWorker, leaseOf } from './fake-worker.ts';
import { memoryQueue } from './memory-queue.ts';

const options = { concurrency: 2, visibilitySeconds: 60, drain: true, signal: new AbortController().signal };
const sleep: WorkOptions['sleep'] = () => turn();

test('reports every refused message with its id, and to the worker too', async () => {
  await using fake = await fakeWorker({});
  const refused: string[] = [];
  const reported: string[] = [];
  const worker = { ...fake.worker, onRefused: () => void reported.push('refused') };

  const counts = await work({
    ...options,
    worker,
    lease: leaseOf(fake),
    queue: memoryQueue(['no job', '{"type":"dance"}']),
    sleep,
    onRefused: (messageId) => refused.push(messageId),
  });

  expect(refused.toSorted()).toEqual(['m-1', 'm-2']);
  expect(reported).toEqual(['refused', 'refused']);
  expect(counts).toEqual({ done: 2, later: 0, failed: 0 });
});

import { expect, test } from 'vitest';
import { sendJobs } from '../../lib/cli/send-jobs.ts';
import { UnsentError, type UnsentMessage } from '../../lib/jobs/queue/unsent-error.ts';

const jobs = Array.from({ length: 25 }, (_, index) => ({
  id: `job-${index + 1}`,
  text: `text ${index + 1}`,
}));
const idsWithout = (...numbers: readonly number[]) =>
  jobs.map(({ id }) => id).filter((id) => !numbers.some((number) => id === `job-${number}`));

const fault = (name: string) => Object.assign(new Error('not accepted'), { name });
const invalid = fault('InvalidMessageContents');
const missing = fault('QueueDoesNotExist');

/** A queue whose sends fail by the script: each entry names what one batch leaves unsent. */
function scriptedQueue(...script: readonly (readonly UnsentMessage[])[]) {
  const batches: number[] = [];
  const send = async (bodies: readonly string[]) => {
    const [first, ...others] = script[batches.length] ?? [];
    batches.push(bodies.length);
    if (first) throw new UnsentError('jobs', bodies.length, [first, ...others]);
  };
  return { queue: { send }, batches };
}

const { signal } = new AbortController();

test('jobs that cannot be sent stop no other, and each is numbered among all', async () => {
  const { queue, batches } = scriptedQueue(
    [{ index: 2, cause: invalid, mayBeSent: false }],
    [],
    [{ index: 4, cause: invalid, mayBeSent: false }],
  );

  const { ids, error } = await sendJobs(jobs, { queue, signal });

  expect(batches).toEqual([10, 10, 5]);
  expect(ids).toEqual(idsWithout(3, 25));
  expect(error).toMatchObject({
    message: 'jobs: sent 23 of 25 messages, not number 3, 25: InvalidMessageContents: not accepted',
  });
});

test('a queue that is gone ends it at once, and what it had accepted of the batch counts', async () => {
  const { queue, batches } = scriptedQueue([], [{ index: 0, cause: missing, mayBeSent: true }]);

  const { ids, error } = await sendJobs(jobs, { queue, signal });

  expect(batches).toEqual([10, 10]);
  expect(ids).toEqual(idsWithout(11, 21, 22, 23, 24, 25));
  expect(error).toMatchObject({
    message:
      'jobs: sent at least 19 of 25 messages, perhaps not number 11, 21, 22, 23, 24, 25: QueueDoesNotExist: not accepted',
  });
});

test('an abort ends it before the next batch, and is the error', async () => {
  const controller = new AbortController();
  const send = async () => controller.abort('stop');

  const { ids, error } = await sendJobs(jobs, { queue: { send }, signal: controller.signal });

  expect({ sent: ids.length, error }).toEqual({ sent: 10, error: 'stop' });
});

test('all jobs that were sent leave no error', async () => {
  expect(await sendJobs(jobs, { ...scriptedQueue(), signal })).toEqual({
    ids: idsWithout(),
    error: undefined,
  });
});

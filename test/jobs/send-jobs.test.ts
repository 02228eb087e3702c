import { describe, expect, test } from 'vitest';
import { UnsentError, type UnsentMessage } from '../../lib/jobs/queue/queue.ts';
import { sendJobs } from '../../lib/jobs/send-jobs.ts';

const jobs = Array.from({ length: 25 }, (_, index) => ({
  id: `job-${index + 1}`,
  body: `text ${index + 1}`,
}));
const idsWithout = (...numbers: readonly number[]) =>
  jobs.map(({ id }) => id).filter((id) => !numbers.some((number) => id === `job-${number}`));

const fault = (name: string) => Object.assign(new Error('not accepted'), { name });
const invalid = fault('InvalidMessageContents');
const missing = fault('QueueDoesNotExist');

/** A queue whose sends fail by the script: each entry lists the messages of one batch that stay unsent. */
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

test('jobs that cannot be sent do not block other jobs, and each is named by its number in the whole list', async () => {
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

test('a deleted queue ends sending immediately, and the messages that it had accepted count as sent', async () => {
  const { queue, batches } = scriptedQueue([], [{ index: 0, cause: missing, mayBeSent: true }]);

  const { ids, error } = await sendJobs(jobs, { queue, signal });

  expect(batches).toEqual([10, 10]);
  expect(ids).toEqual(idsWithout(11, 21, 22, 23, 24, 25));
  expect(error).toMatchObject({
    message:
      'jobs: sent at least 19 of 25 messages, perhaps not number 11, 21, 22, 23, 24, 25: QueueDoesNotExist: not accepted',
  });
});

test('an abort ends sending before the next batch, and its reason is thrown', async () => {
  const controller = new AbortController();
  const send = async () => controller.abort('stop');

  const { ids, error } = await sendJobs(jobs, { queue: { send }, signal: controller.signal });

  expect({ sent: ids.length, error }).toEqual({ sent: 10, error: 'stop' });
});

test('if all jobs were sent, no error is reported', async () => {
  expect(await sendJobs(jobs, { ...scriptedQueue(), signal })).toEqual({
    ids: idsWithout(),
    notSent: [],
    error: undefined,
  });
});

describe('a temporarily unavailable queue', () => {
  const unreachable = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const all = (count: number, cause: unknown = unreachable) =>
    Array.from({ length: count }, (_, index) => ({ index, cause, mayBeSent: true }));
  const patient = () => {
    const clock = { nowMs: 0 };
    const unavailable: string[] = [];
    return {
      clock,
      unavailable,
      options: {
        signal,
        now: () => clock.nowMs,
        random: () => 0.5,
        onUnavailable: ({ message }: Error) => void unavailable.push(message),
        sleep: async (ms: number) => {
          clock.nowMs += ms;
        },
      },
    };
  };

  test('is retried with only the messages that were not accepted, and reported once', async () => {
    const { unavailable, options } = patient();
    const partly = [{ index: 7, cause: fault('RequestThrottled'), mayBeSent: false }];
    const { queue, batches } = scriptedQueue([], all(10), all(10), partly, all(1), []);

    const sent = await sendJobs(jobs, { ...options, queue });

    expect(batches).toEqual([10, 10, 10, 10, 1, 1, 5]);
    expect(sent).toEqual({ ids: idsWithout(), notSent: [], error: undefined });
    expect(unavailable).toHaveLength(1);
  });

  test('is given up after five minutes, and the error names exactly the jobs that may be missing', async () => {
    const { clock, options } = patient();
    const { queue } = scriptedQueue([], ...Array.from({ length: 100 }, () => all(10)));

    const { ids, notSent, error } = await sendJobs(jobs, { ...options, queue });

    expect(ids).toEqual(jobs.slice(0, 10).map(({ id }) => id));
    expect(notSent).toEqual(jobs.slice(10).map(({ id }) => id));
    expect(error).toBeInstanceOf(UnsentError);
    expect(clock.nowMs).toBeGreaterThanOrEqual(300_000);
    expect(clock.nowMs).toBeLessThan(330_000);
  });

  test('does not hide a job that it refused', async () => {
    const { options } = patient();
    const mixed = [
      { index: 2, cause: invalid, mayBeSent: false },
      { index: 4, cause: fault('InternalError'), mayBeSent: false },
    ];
    const { queue, batches } = scriptedQueue([], mixed, []);

    const { notSent } = await sendJobs(jobs, { ...options, queue });

    expect(batches).toEqual([10, 10, 1, 5]);
    expect(notSent).toEqual(['job-13']);
  });

  test('is not retried if it was never reached', async () => {
    const { options } = patient();
    const { queue, batches } = scriptedQueue(all(10));

    const { ids, notSent } = await sendJobs(jobs, { ...options, queue });

    expect({ batches, ids }).toEqual({ batches: [10], ids: [] });
    expect(notSent).toHaveLength(25);
  });
});

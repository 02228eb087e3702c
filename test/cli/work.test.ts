import { readdir } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { openStore } from '../../lib/store/open.ts';
import { createFakeScreen } from './fake-screen.ts';
import { adds, lines, startJobs, throws } from './start-jobs.ts';

const submit = (jobs: Awaited<ReturnType<typeof startJobs>>, ...all: readonly object[]) =>
  jobs.run(['submit', '-'], lines(all));

test('work --drain does every job once, and exits 0', async () => {
  await using jobs = await startJobs();
  const score = { type: 'score', id: 'texts', texts: [{ id: '1', text: 'This is wonderful.' }] };

  const { code, out, err } = await jobs.workOff(adds('sum'), score);

  const { waiting, inFlight } = await jobs.countsOf(jobs.queue);
  const listed = JSON.parse((await jobs.runWithoutPlatform(['jobs', '--json'])).out);
  expect(code).toBe(0);
  // Progress lines appear if it takes longer than a few seconds.
  expect(err).toMatch(/^(work: .*\n?)*$/);
  expect(JSON.parse(out)).toMatchObject({ done: 2, failed: 0, unknown: 0, refused: 0 });
  expect({ waiting, inFlight }).toEqual({ waiting: 0, inFlight: 0 });
  expect(listed).toHaveLength(2);
  expect(jobs.sandbox.counts().executions).toHaveLength(1);
});

test('work reports a failed job and a refused message, exits 3, and shows one line for each job on a terminal', async () => {
  await using jobs = await startJobs();
  await submit(jobs, adds('sum'), throws('thrown'));
  await jobs.queue.send(['no job']);

  const { screen } = createFakeScreen(80);
  const settings = { ...jobs.settings, LOG_LEVEL: 'info' };
  const { code, out, err } = await jobs.begin(['work', '--drain'], settings, '', screen).ended;

  expect(code).toBe(3);
  expect(err).toMatch(/^\d\d:\d\d:\d\d done: run-function sum, \d+\.\d s$/m);
  expect(err).toMatch(
    /^\d\d:\d\d:\d\d failed: run-function thrown, \d+\.\d s: execution \S+ ended with FAILED: .+$/m,
  );
  expect(err).toMatch(/^\d\d:\d\d:\d\d warning: a message was refused \(refused\/.+\): /m);
  expect(err).not.toMatch(/^\{|\bat .*\.ts:/m);
  // A message that is delivered again while its job runs is requeued.
  expect(out).toMatch(/^jobs: 1 done, 1 failed, 0 unknown, 1 refused; [01] requeued, 0 not handled$/);
});

/** Runs a command until it has sent a request, then presses Ctrl-C. */
async function interrupted(
  jobs: Awaited<ReturnType<typeof startJobs>>,
  argv: readonly string[],
  settings = {},
) {
  const working = jobs.begin(argv, { ...jobs.settings, ...settings });
  await vi.waitFor(() => expect(jobs.sandbox.counts().requests).toBeGreaterThan(0), {
    interval: 5,
    timeout: 10_000,
  });
  working.interrupt();
  return working.ended;
}

test('Ctrl-C finishes the running jobs, leaves the rest on the queue, and exits 0', async () => {
  await using jobs = await startJobs({ latencyMs: 300 });
  await submit(jobs, ...['a', 'b', 'c', 'd'].map((id) => adds(id)));

  const { code, out, err } = await interrupted(jobs, ['work', '--concurrency', '1', '--json']);

  const { waiting, inFlight } = await jobs.countsOf(jobs.queue);
  const { done } = JSON.parse(out);
  expect(code).toBe(0);
  expect(err).toContain('stopped as requested; jobs that were not started are still on the queue');
  expect(done).toBeGreaterThanOrEqual(1);
  expect(done).toBeLessThan(4);
  expect(waiting + inFlight).toBe(4 - done);
});

test('Ctrl-C requeues a job whose texts are not all scored; calls in flight finish, and are not paid for again', async () => {
  await using jobs = await startJobs({ latencyMs: 300 });
  const texts = Array.from({ length: 12 }, (_, index) => ({ id: `${index}`, text: `text ${index}` }));
  await submit(jobs, { type: 'score', id: 'texts', texts });

  const { code, out } = await interrupted(jobs, ['work', '--json'], { PLATFORM_CONCURRENCY: '2' });
  const { requests } = jobs.sandbox.counts();
  const again = await jobs.run(['work', '--drain', '--json']);

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ done: 0, failed: 0, unknown: 0 });
  // A poll that was under way may receive the job once more.
  expect(JSON.parse(out).handedBack).toBeGreaterThan(0);
  expect(requests).toBeLessThan(10);
  expect(JSON.parse(again.out)).toMatchObject({ done: 1 });
  expect(jobs.sandbox.counts().requests).toBe(12);
});

describe('work on a terminal', () => {
  test('stops at the first refused token, and leaves all jobs on the queue', async () => {
    await using jobs = await startJobs();
    await submit(jobs, ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => adds(id)));

    const { screen } = createFakeScreen(80);
    const settings = { ...jobs.settings, PLATFORM_TOKEN: 'revoked', PLATFORM_CONCURRENCY: '1' };
    const argv = ['work', '--drain', '--json'];
    const { code, out, err } = await jobs.begin(argv, settings, '', screen).ended;

    const { waiting, inFlight, delayed } = await jobs.countsOf(jobs.queue);
    expect(code).toBe(1);
    expect(err).toContain(
      'refused the token in PLATFORM_TOKEN (401): check that it is correct, and neither expired nor revoked.',
    );
    expect(JSON.parse(out)).toMatchObject({ done: 0, failed: 0, unknown: 0 });
    expect(jobs.sandbox.counts().requests).toBeLessThan(3);
    expect(waiting + inFlight + delayed).toBe(6);
  });

  test('ends immediately if the queue could never be reached', async () => {
    await using jobs = await startJobs();
    const url = 'http://127.0.0.1:9/000000000000/jobs';
    const { screen } = createFakeScreen(80);
    const { code, err } = await jobs.begin(
      ['work'],
      {
        SYNC_TABLE: `sqlite:${jobs.folder}/jobs.db`,
        AWS_REGION: 'eu-central-1',
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
        ...jobs.settings,
        SYNC_QUEUE_URL: url,
        SYNC_DEAD_LETTER_URL: `${url}-dead`,
        AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9',
      },
      '',
      screen,
    ).ended;

    expect(code).toBe(1);
    expect(err).toContain(`platform-sync: read the limits of ${url}: ECONNREFUSED`);
    expect(err).toContain('check SYNC_QUEUE_URL');
  });
});

test('with only a folder configured, two workers share the jobs, the store has no jobs, and a dry run creates nothing', async () => {
  await using jobs = await startJobs({ isInAws: false });

  const dry = await jobs.run(['submit', '-', '--dry-run'], lines([adds('sum')]));
  const afterDry = await readdir(jobs.folder);
  await submit(jobs, adds('sum'));
  const work = ['work', '--drain', '--json'];
  const worked = await Promise.all([jobs.run(work), jobs.run(work)]);
  const paced = await jobs.run(['pace', '--json']);

  expect([dry, ...worked].map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(afterDry).toEqual([]);
  expect(jobs.sandbox.counts().executions).toHaveLength(1);
  expect(JSON.parse(paced.out).granted).toBeGreaterThan(0);
  const keys = (await Array.fromAsync((await openStore(jobs.folder)).list(''))).map(({ key }) => key);
  expect(keys.filter((key) => key.includes('jobs.db'))).toEqual([]);
});

test('an update that the platform stored as INVALID counts as failed, and the message says that it is stored', async () => {
  await using jobs = await startJobs();
  const [calculation] = [...jobs.sandbox.calculations()].map((line) => JSON.parse(line));
  const calculationId = String(calculation?.id);

  const { code, out } = await jobs.workOff({
    ...{ type: 'update-formula', id: 'invalid', calculationId, expression: 'SERVICE_BEAST_MODE(99999999)' },
  });

  const listed = (await jobs.runWithoutPlatform(['jobs', 'invalid', '--json'])).out;
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({ done: 0, failed: 1 });
  expect(listed).toContain('invalid-formula');
  expect(listed).toContain('it is stored');
});

test('work exits 2 and says which table or queue is missing; jobs of other types stay', async () => {
  await using jobs = await startJobs({ isInAws: true });
  await submit(jobs, adds('sum'));
  const work = (settings: Readonly<Record<string, string>>) =>
    jobs.begin(['work', '--drain'], { ...jobs.settings, ...settings }).ended;

  const unset = await work({ SYNC_TABLE: '' });
  const table = await work({ SYNC_TABLE: 'no-table' });
  const queue = await work({ SYNC_QUEUE_URL: `${jobs.settings['SYNC_QUEUE_URL']}-none` });

  expect([unset.code, table.code, queue.code]).toEqual([2, 2, 2]);
  expect(unset.err).toContain('SYNC_TABLE: required for this, got nothing');
  expect(table.err).toContain('no-table');
  expect(queue.err).toMatch(/jobs-(?:\w+-)?none/);
  expect(await jobs.countsOf(jobs.queue)).toMatchObject({ waiting: 1, inFlight: 0 });
});

test('--drain reports messages that became dead letters meanwhile because of a low limit of the queue, and exits 3', async () => {
  await using jobs = await startJobs({ isInAws: true, maxReceives: 2 });
  await submit(jobs, adds('sum'), adds('unlucky'));
  // As if two workers had been killed while they held both messages.
  const received = new Set<string>();
  while (received.size < 4) {
    const messages = await jobs.queue.receive({ max: 10, waitSeconds: 1, visibilitySeconds: 60 });
    for (const { messageId, receives } of messages) received.add(`${messageId} ${receives}`);
    for (const { receipt } of messages) await jobs.queue.delay(receipt, 0);
  }
  await submit(jobs, adds('another'));

  const { code, out, err } = await jobs.run(['work', '--drain', '--json']);

  expect(JSON.parse(out)).toMatchObject({ failed: 0, deadLetters: 2 });
  expect(await jobs.countsOf(jobs.deadLetters)).toMatchObject({ waiting: 2 });
  expect(err).toContain('SYNC_QUEUE_URL: maxReceiveCount is 2, expected 1000');
  expect(code).toBe(3);
});

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { openStore } from '../../lib/store/open.ts';
import { createFakeScreen } from './fake-screen.ts';
import { countsOf, lines, startJobs } from './start-jobs.ts';

const call = (id: string, functionName: string, inputVariables: object) => ({
  type: 'run-function',
  id,
  packageId: codePackages[functionName === 'addNumbers' ? 0 : 1]?.id,
  packageVersion: '1.0.0',
  functionName,
  inputVariables,
});
const adds = (id: string) => call(id, 'addNumbers', { first: 40, second: 2 });

test('--drain does every job once, and exits 0', async () => {
  await using jobs = await startJobs();
  const score = { type: 'score', id: 'texts', texts: [{ id: '1', text: 'This is wonderful.' }] };
  await jobs.run(['submit', '-'], lines([adds('sum'), score]));

  const { code, out, err } = await jobs.run(['work', '--drain', '--json']);

  const { waiting, inFlight } = await countsOf(jobs.queue);
  const listed = JSON.parse((await jobs.runWithoutPlatform(['jobs', '--json'])).out);
  expect(code).toBe(0);
  // Progress, if it takes longer than a few seconds.
  expect(err).toMatch(/^(work: .*\n?)*$/);
  expect(JSON.parse(out)).toMatchObject({ done: 2, failed: 0, unknown: 0, refused: 0 });
  expect({ waiting, inFlight }).toEqual({ waiting: 0, inFlight: 0 });
  expect(listed).toHaveLength(2);
  expect(jobs.sandbox.counts().executions).toHaveLength(1);
});

test('reports a failed job and exits 3', async () => {
  await using jobs = await startJobs();
  const input = lines([adds('sum'), call('thrown', 'throwsError', { message: 'no luck' })]);
  await jobs.run(['submit', '-'], input);

  const { code, out } = await jobs.run(['work', '--drain']);

  expect(code).toBe(3);
  // A message that is delivered again while its job runs is handed back.
  expect(out).toMatch(/^jobs: 1 done, 1 failed, 0 unknown, 0 refused; [01] handed back, 0 not handled$/);
});

test('reports a refused message and exits 3', async () => {
  await using jobs = await startJobs();
  await jobs.queue.send(['no job']);

  const { code, out } = await jobs.run(['work', '--drain', '--json']);

  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({ done: 0, failed: 0, refused: 1 });
});

test('Ctrl-C finishes the running jobs, leaves the rest on the queue, and exits 0', async () => {
  await using jobs = await startJobs({ latencyMs: 1_000 });
  await jobs.run(['submit', '-'], lines(['a', 'b', 'c', 'd'].map(adds)));

  const working = jobs.begin(['work', '--concurrency', '1', '--json'], jobs.settings);
  await vi.waitFor(() => expect(jobs.sandbox.counts().requests).toBe(1), { interval: 5, timeout: 10_000 });
  working.interrupt();
  const { code, out, err } = await working.ended;

  const { waiting, inFlight } = await countsOf(jobs.queue);
  const { done } = JSON.parse(out);
  expect(code).toBe(0);
  expect(err).toContain('stopped as requested; jobs that were not started are still on the queue');
  expect(done).toBeGreaterThanOrEqual(1);
  expect(done).toBeLessThan(4);
  expect(waiting + inFlight).toBe(4 - done);
});

test('Ctrl-C puts a job back whose texts are not all scored; those that had left are, and are not paid for again', async () => {
  await using jobs = await startJobs({ latencyMs: 1_000 });
  const texts = Array.from({ length: 30 }, (_, index) => ({ id: `${index}`, text: `text ${index}` }));
  await jobs.run(['submit', '-'], lines([{ type: 'score', id: 'texts', texts }]));

  const settings = { ...jobs.settings, PLATFORM_CONCURRENCY: '2' };
  const working = jobs.begin(['work', '--json'], settings);
  await vi.waitFor(() => expect(jobs.sandbox.counts().requests).toBeGreaterThan(0), {
    interval: 5,
    timeout: 10_000,
  });
  working.interrupt();
  const { code, out } = await working.ended;
  const { requests } = jobs.sandbox.counts();
  const again = await jobs.run(['work', '--drain', '--json']);

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ done: 0, failed: 0, unknown: 0 });
  // The poll that was waiting may receive it once more.
  expect(JSON.parse(out).handedBack).toBeGreaterThan(0);
  expect(requests).toBeLessThan(10);
  expect(JSON.parse(again.out)).toMatchObject({ done: 1 });
  expect(jobs.sandbox.counts().requests).toBe(30);
});

describe('on a terminal', () => {
  test('shows a line a job, and what the log says in words', async () => {
    await using jobs = await startJobs();
    const input = lines([adds('sum'), call('thrown', 'throwsError', { message: 'no luck' })]);
    await jobs.run(['submit', '-'], input);
    await jobs.queue.send(['no job']);

    const { screen } = createFakeScreen(80);
    const settings = { ...jobs.settings, LOG_LEVEL: 'info' };
    const { code, out, err } = await jobs.begin(['work', '--drain'], settings, '', screen).ended;

    expect(code).toBe(3);
    expect(err).toMatch(/^\d\d:\d\d:\d\d done: run-function sum, \d+\.\d s$/m);
    expect(err).toMatch(
      /^\d\d:\d\d:\d\d failed: run-function thrown, \d+\.\d s: execution \S+ ended with FAILED$/m,
    );
    expect(err).toMatch(/^\d\d:\d\d:\d\d warning: a message was refused \(refused\/.+\): /m);
    expect(err).not.toMatch(/^\{|\bat .*\.ts:/m);
    expect(out).toMatch(/^jobs: 1 done, 1 failed, 0 unknown, 1 refused; /);
  });

  test('stops at the first refused token, and leaves all jobs on the queue', async () => {
    await using jobs = await startJobs();
    await jobs.run(['submit', '-'], lines(['a', 'b', 'c', 'd', 'e', 'f'].map(adds)));

    const { screen } = createFakeScreen(80);
    const settings = { ...jobs.settings, PLATFORM_TOKEN: 'revoked', PLATFORM_CONCURRENCY: '1' };
    const argv = ['work', '--drain', '--json'];
    const { code, out, err } = await jobs.begin(argv, settings, '', screen).ended;

    const { waiting, inFlight, delayed } = await countsOf(jobs.queue);
    expect(code).toBe(1);
    expect(err).toContain(
      'refused the token (401): is it correct, and neither expired nor revoked? It is the one in',
    );
    expect(JSON.parse(out)).toMatchObject({ done: 0, failed: 0, unknown: 0 });
    expect(jobs.sandbox.counts().requests).toBeLessThan(3);
    expect(waiting + inFlight + delayed).toBe(6);
  });

  test('ends at once if the queue cannot be reached and never could be', async () => {
    await using jobs = await startJobs();
    const url = 'http://127.0.0.1:9/000000000000/jobs';
    const settings = { ...jobs.settings, SYNC_DEAD_LETTER_URL: '', SYNC_QUEUE_URL: url };

    const { screen } = createFakeScreen(80);
    const { code, err } = await jobs.begin(
      ['work'],
      { ...settings, AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9' },
      '',
      screen,
    ).ended;

    expect(code).toBe(1);
    expect(err).toContain(`platform-sync: receive from ${url}: ECONNREFUSED`);
    expect(err).toContain('check SYNC_QUEUE_URL');
  });
});

test('without SYNC_TABLE a queue in SQS is left alone, whose jobs other hosts may run', async () => {
  await using jobs = await startJobs();
  const { SYNC_TABLE: _, ...settings } = jobs.settings;
  await jobs.run(['submit', '-'], lines([adds('sum')]));

  const { code, err } = await jobs.begin(['work'], settings).ended;

  expect(code).toBe(2);
  expect(err).toContain('work: expected SYNC_TABLE, the table that holds the ledger of the queue’s jobs');
  expect(await countsOf(jobs.queue)).toMatchObject({ waiting: 1, inFlight: 0 });
});

test('with nothing but a folder, jobs are submitted, run once, listed and left out of the store', async () => {
  await using jobs = await startJobs();
  const { SYNC_TABLE: _, SYNC_QUEUE_URL: __, SYNC_DEAD_LETTER_URL: ___, ...settings } = jobs.settings;
  const folder = await mkdtemp(join(tmpdir(), 'folder-alone-'));
  const alone = { ...settings, SYNC_STORE: folder };
  const run = (argv: readonly string[], input?: string) => jobs.begin(argv, alone, input).ended;

  const dry = await run(['submit', '-', '--dry-run'], lines([adds('sum')]));
  const afterDry = await readdir(folder);
  const submitted = await run(['submit', '-'], lines([adds('sum')]));
  const worked = await Promise.all([run(['work', '--drain', '--json']), run(['work', '--drain', '--json'])]);
  const listed = await run(['jobs', 'sum', '--json']);
  const redriven = await run(['redrive', '--json']);
  const paced = await run(['pace', '--json']);

  expect([dry.code, submitted.code, listed.code, redriven.code, paced.code]).toEqual([0, 0, 0, 0, 0]);
  expect(afterDry).toEqual([]);
  expect(worked.map(({ code }) => code)).toEqual([0, 0]);
  expect(jobs.sandbox.counts().executions).toHaveLength(1);
  expect(JSON.parse(listed.out)).toMatchObject({ status: 'done' });
  expect(JSON.parse(paced.out).granted).toBeGreaterThan(0);
  const keys = (await Array.fromAsync((await openStore(folder)).list(''))).map(({ key }) => key);
  expect(keys.filter((key) => key.includes('jobs.db'))).toEqual([]);
  await rm(folder, { recursive: true });
});

test('an update that the platform stored as INVALID ends as failed, and says that it is stored', async () => {
  await using jobs = await startJobs();
  const [calculation] = [...jobs.sandbox.calculations()].map((line) => JSON.parse(line));
  const calculationId = String(calculation?.id);
  const update = { type: 'update-formula', id: 'invalid', calculationId, expression: 'MAX(' };
  await jobs.queue.send([JSON.stringify({ version: 1, ...update })]);

  const { code, out } = await jobs.run(['work', '--drain', '--json']);

  const listed = (await jobs.runWithoutPlatform(['jobs', 'invalid', '--json'])).out;
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({ done: 0, failed: 1 });
  expect(listed).toContain('invalid-formula');
  expect(listed).toContain('it is stored');
});

test.each([
  ['SYNC_TABLE', () => 'no-table', /no-table/],
  ['SYNC_QUEUE_URL', (url: string) => `${url}-none`, /jobs-(?:\w+-)?none/],
] as const)('without what %s names, it ends with exit 2 and says which', async (name, other, said) => {
  await using jobs = await startJobs();
  const settings = { ...jobs.settings, [name]: other(jobs.settings.SYNC_QUEUE_URL) };

  const { code, err } = await jobs.begin(['work', '--drain'], settings).ended;

  expect(code).toBe(2);
  expect(err).toMatch(said);
});

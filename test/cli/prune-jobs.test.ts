import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { stagedOutcome, writeResult } from '../../lib/jobs/result.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { adds, lines, startJobs, throws } from './start-jobs.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-12-01T00:00:00Z');

type Jobs = Awaited<ReturnType<typeof startJobs>>;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW, shouldAdvanceTime: true }));
afterEach(() => void vi.useRealTimers());

/** Runs jobs: `old` ones that end 100 days ago, and `young` ones that end now. */
async function startWithOld(old: readonly object[], young: readonly object[]): Promise<Jobs> {
  const jobs = await startJobs({ isInAws: false });
  vi.setSystemTime(NOW - 100 * DAY);
  await jobs.workOff(...old);
  vi.setSystemTime(NOW);
  await jobs.workOff(...young);
  return jobs;
}

const prune = (jobs: Jobs, ...argv: readonly string[]) =>
  jobs.runWithoutPlatform(['prune', '--jobs', '--older-than', ...argv]);

async function listed(jobs: Jobs) {
  const { out } = await jobs.runWithoutPlatform(['jobs', '--json']);
  return (JSON.parse(out) as readonly { readonly id: string }[]).map(({ id }) => id).toSorted();
}

async function responsesIn(jobs: Jobs): Promise<number> {
  let found = 0;
  for await (const { row } of jobs.table.scan('job#'))
    found += Number(JSON.stringify(row).includes('response'));
  return found;
}

test('prune --jobs removes old jobs from the list and their responses from the ledger, and none runs again', async () => {
  await using jobs = await startWithOld([adds('old'), throws('failed')], [adds('young')]);
  const { requests } = jobs.sandbox.counts();

  const pruned = await prune(jobs, '90d', '--yes', '--json');
  const remaining = await listed(jobs);
  const again = await jobs.workOff(adds('old'), adds('young'), throws('failed'));

  expect(pruned.code).toBe(0);
  expect(JSON.parse(pruned.out)).toMatchObject({ dryRun: false, jobs: 2, kept: [] });
  expect(remaining).toEqual(['young']);
  expect(await responsesIn(jobs)).toBe(1);
  expect(JSON.parse(again.out)).toMatchObject({ done: 2, failed: 1 });
  expect(jobs.sandbox.counts().requests).toBe(requests);
});

test('jobs ID and run --output read the outcome of a pruned job from its result', async () => {
  await using jobs = await startWithOld([], []);
  vi.setSystemTime(NOW - 100 * DAY);
  const file = join(jobs.folder, 'jobs.ndjson');
  const output = join(jobs.folder, 'rows.ndjson');
  await writeFile(file, lines([adds('old')]));
  await jobs.run(['run', file]);
  vi.setSystemTime(NOW);
  await jobs.workOff(adds('young'));
  const { requests } = jobs.sandbox.counts();

  await prune(jobs, '90d', '--yes');
  const shown = await jobs.runWithoutPlatform(['jobs', 'old']);
  const again = await jobs.run(['run', file, '--output', output]);
  const written = await readFile(output, 'utf8');

  expect(JSON.parse(shown.out)).toMatchObject({ id: 'old', status: 'done', response: { result: 42 } });
  expect(again.code).toBe(0);
  expect(JSON.parse(written)).toMatchObject({ id: 'old', status: 'done', response: { result: 42 } });
  expect(jobs.sandbox.counts().requests).toBe(requests);
});

test('a clock that is months ahead does not make jobs old: age is counted back from the newest outcome', async () => {
  await using jobs = await startWithOld([adds('old')], [adds('young')]);
  vi.setSystemTime(NOW + 120 * DAY);

  const asked = await prune(jobs, '90d', '--dry-run');
  const pruned = await prune(jobs, '90d', '--yes');

  expect(pruned.out).toMatch(/^1 job, .*; 1 deleted$/);
  expect(asked.out).toMatch(
    /^1 job, which ended from 2026-08-23T\S+ to 2026-08-23T\S+; nothing was deleted$/,
  );
  expect(await listed(jobs)).toEqual(['young']);
});

test('jobs that are open, queued or unknown stay, and so does a job whose result is missing', async () => {
  await using jobs = await startWithOld([adds('gone'), adds('old')], []);
  const ledger = jobs.ledgerAt(() => NOW - 100 * DAY);
  const request = (id: string) => ({ id, type: 'run-function', contentHash: 'c', sender: 's' });
  await ledger.announce(request('queued'));
  await ledger.claim(request('unknown'), { leaseMs: 1, sends: true });
  await jobs.ledgerAt(() => NOW - 99 * DAY).claim(request('unknown'), { leaseMs: 1 });
  await ledger.cancel('unseen');
  await rm(join(jobs.folder, 'results/run-function/dt=2026-08-23/gone.json'));

  const { code, err, out } = await prune(jobs, '2026-12-01', '--yes', '--json');

  expect(code).toBe(0);
  expect(err.trim()).toBe('gone is not deleted: its result is not in the store');
  expect(JSON.parse(out)).toMatchObject({ jobs: 1, kept: ['gone'] });
  expect(await listed(jobs)).toEqual(['gone', 'queued', 'unknown', 'unseen']);
});

test('a pruned job that failed can be reopened by its id', async () => {
  await using jobs = await startWithOld([throws('failed')], []);
  await prune(jobs, '2026-12-01', '--yes');
  const { requests } = jobs.sandbox.counts();

  const { code } = await jobs.run(['redrive', 'failed', '--yes']);
  await jobs.run(['work', '--drain']);

  expect(code).toBe(0);
  expect(jobs.sandbox.counts().requests).toBeGreaterThan(requests);
  expect(await listed(jobs)).toEqual(['failed']);
});

test('a large response is deleted from work/ once its result has it', async () => {
  await using jobs = await startJobs({ isInAws: false });
  const store = createDirectoryStore(jobs.folder);
  const ledger = jobs.ledgerAt(() => NOW - DAY);
  const large = JSON.stringify('9'.repeat(200_000));
  await ledger.claim({ id: 'old', type: 'run-function', contentHash: 'c', sender: 's' }, { leaseMs: 1 });
  const outcome = await stagedOutcome(store, { id: 'old', fence: 1 }, { status: 'done', response: large });
  const ended = await ledger.end({ id: 'old', fence: 1 }, outcome);
  if (ended.kind === 'ended') await writeResult(store, { ...ended.row, type: 'run-function' });
  const staged = () => readdir(join(jobs.folder, 'work/outcomes/old')).catch(() => []);
  const before = await staged();

  await prune(jobs, '2026-12-01T00:00:00Z', '--yes');
  const { out } = await jobs.runWithoutPlatform(['jobs', 'old']);

  expect(before).toHaveLength(1);
  expect(await staged()).toEqual([]);
  expect(JSON.parse(out)).toMatchObject({ id: 'old', response: '9'.repeat(200_000) });
});

test('prune --jobs is refused without --yes if there is no terminal, with options for runs, and for a table in AWS', async () => {
  await using jobs = await startWithOld([adds('old')], []);
  const inAws = { ...jobs.shared, SYNC_TABLE: 'ledger', AWS_REGION: 'eu-west-1' };

  const unasked = await prune(jobs, '2026-12-01');
  const without = await jobs.runWithoutPlatform(['prune', '--jobs', '--yes']);
  const ofRuns = await jobs.runWithoutPlatform(['prune', '--jobs', '--keep', '1', '--yes']);
  const byTtl = await jobs.begin(['prune', '--jobs', '--older-than', '90d', '--yes'], inAws).ended;

  expect([unasked, without, ofRuns, byTtl].map(({ code }) => code)).toEqual([2, 2, 2, 2]);
  expect(unasked.err).toContain('--yes is required');
  expect(without.err).toContain('--jobs needs --older-than');
  expect(ofRuns.err).toContain('got --jobs and --keep');
  expect(byTtl.err).toContain('DynamoDB deletes each job itself, 30 days after its last step');
  expect(await listed(jobs)).toEqual(['old']);
});

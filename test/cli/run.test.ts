import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readAllow } from '../../lib/jobs/allow.ts';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { createFakeScreen } from './fake-screen.ts';
import { adds, lines, startJobs } from './start-jobs.ts';

const { id: _, ...template } = adds('', '{{n:number}}');

type Jobs = Awaited<ReturnType<typeof startJobs>>;

async function fileIn({ folder }: Jobs, name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

const ndjsonIn = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('each row of a CSV is run once, and the output has its columns and its outcome in the order of the file', async () => {
  await using jobs = await startJobs();
  const csv = await fileIn(jobs, 'numbers.csv', 'n,note,status\n1,one,a\n2,"two, too",b\n3,three,c\n');
  const json = await fileIn(jobs, 'job.json', JSON.stringify(template));
  const output = join(jobs.folder, 'out.csv');

  const { code, out } = await jobs.run(['run', '--from-csv', csv, '--template', json, '--output', output]);

  const [header, ...rows] = (await readFile(output, 'utf8')).trimEnd().split('\n');
  expect(code).toBe(0);
  expect(out).toContain(`${csv}: 3 rows: 3 done now, 0 failed, 0 unknown, 0 left; 0 had ended before`);
  expect(header).toBe('n,note,status,job_id,status_2,response,error');
  expect(rows.map((row) => /^(.*?),row\.[0-9a-f]{32},done,.*""result"":(\d+)/.exec(row)?.slice(1))).toEqual([
    ['1,one,a', '3'],
    ['2,"two, too",b', '4'],
    ['3,three,c', '5'],
  ]);
  expect(jobs.sandbox.counts().executions).toHaveLength(3);
});

test('a formula that the platform may refuse runs with a warning; with --strict it is refused', async () => {
  await using jobs = await startJobs();
  const { id } = JSON.parse(jobs.sandbox.calculations().next().value ?? '{}') as { readonly id: number };
  const set = { version: 1, type: 'update-formula', id: 'f', calculationId: String(id), expression: '"x"' };
  const loose = await fileIn(jobs, 'loose.ndjson', lines([set]));
  const strict = await fileIn(jobs, 'strict.ndjson', lines([{ ...set, strict: true }]));
  const warning = 'line 1: expression:1:1: warning: Text is written in single quotes';

  const refused = await jobs.run(['run', strict]);
  const run = await jobs.run(['run', loose, '--no-undo']);

  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(warning) });
  expect(run).toMatchObject({
    code: 0,
    err: expect.stringContaining(`${loose}: the platform may refuse:\n  ${warning}`),
  });
  expect(jobs.sandbox.counts().formulaUpdates).toEqual({ [id]: 1 });
});

test('a repeated command runs no job that has ended, and writes the same output', async () => {
  await using jobs = await startJobs();
  const file = await fileIn(jobs, 'jobs.ndjson', lines([adds('a'), adds('b')]));
  const output = join(jobs.folder, 'out.ndjson');
  await jobs.run(['run', file, '--output', output]);
  const before = await readFile(output, 'utf8');

  const { code, out } = await jobs.run(['run', file, '--output', output, '--json']);

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ rows: 2, done: 2, failed: 0, unknown: 0, left: 0, notDone: [] });
  expect(await readFile(output, 'utf8')).toBe(before);
  expect(jobs.sandbox.counts().executions).toHaveLength(2);
});

test('jobs without an id get one from their content: two equal lines are two jobs, and a repeated command runs neither again', async () => {
  await using jobs = await startJobs();
  const { id: _none, ...unnamed } = adds('');
  const file = await fileIn(jobs, 'jobs.ndjson', lines([unnamed, unnamed]));

  await jobs.run(['run', file]);
  const again = await jobs.run(['run', file]);

  expect(again.code).toBe(0);
  expect(jobs.sandbox.counts().executions).toHaveLength(2);
});

async function runRows(jobs: Jobs, path: string, rows: string, ...more: readonly string[]) {
  const file = join(jobs.folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, rows);
  const json = await fileIn(jobs, 'job.json', JSON.stringify(template));
  const { out, err } = await jobs.run(['run', '--from-csv', file, '--template', json, '--json', ...more]);
  return { ...JSON.parse(out), err };
}

test('rows are recognized by their content, not by the name of their file, and jobs that ended before are counted separately', async () => {
  await using jobs = await startJobs();
  const may = await runRows(jobs, 'may/input.csv', 'n\n1\n2\n2\n');

  const june = await runRows(jobs, 'june/input.csv', 'n\n1\n7\n');
  const copy = await runRows(jobs, 'copy-of-may.csv', 'n\n1\n2\n2\n');
  const dry = await runRows(jobs, 'copy-of-may.csv', 'n\n1\n2\n9\n', '--dry-run');

  expect(may).toMatchObject({ rows: 3, doneNow: 3, hadEndedBefore: 0 });
  expect(june).toMatchObject({ rows: 2, done: 2, doneNow: 1, hadEndedBefore: 1 });
  expect(copy).toMatchObject({ rows: 3, done: 3, doneNow: 0, hadEndedBefore: 3 });
  expect(dry).toMatchObject({ rows: 3, hadEndedBefore: 2, endedFrom: expect.any(String) });
  expect(june.err).toContain('To run all jobs again: --name NAME');
  expect(jobs.sandbox.counts().executions).toHaveLength(4);
});

test('a set with another name runs equal rows again, once, and recognizes its rows when others are added', async () => {
  await using jobs = await startJobs();
  await runRows(jobs, 'input.csv', 'n\n1\n2\n');

  const june = await runRows(jobs, 'input.csv', 'n\n1\n2\n', '--name', 'june');
  const more = await runRows(jobs, 'other.csv', 'n\n1\n2\n3\n', '--name', 'june');
  const own = await fileIn(jobs, 'own.ndjson', lines([adds('a')]));
  for (const name of ['june', 'june', 'july']) await jobs.run(['run', own, '--name', name]);

  expect(june).toMatchObject({ doneNow: 2, hadEndedBefore: 0 });
  expect(more).toMatchObject({ doneNow: 1, hadEndedBefore: 2 });
  expect(jobs.sandbox.counts().executions).toHaveLength(7);
});

test('if the template was changed, rows with their own ids are named before any job runs, with what to do', async () => {
  await using jobs = await startJobs();
  const csv = await fileIn(jobs, 'orders.csv', 'order\n7\n');
  const templateOf = (n: number) => fileIn(jobs, 'own.json', JSON.stringify(adds('order-{{order}}', n)));
  const argv = ['run', '--from-csv', csv, '--template', await templateOf(1)];
  await jobs.run(argv);
  await templateOf(2);

  const dry = await jobs.run([...argv, '--dry-run']);
  const refused = await jobs.run(argv);
  const set = await jobs.run([...argv, '--name', 'second']);

  const wayOut = 'With --name NAME, these rows count as a new set';
  expect(dry.out).toContain('1 would be refused: another job has this id, with other content');
  expect(dry.out).toContain(wayOut);
  expect(refused).toMatchObject({ code: 3, out: expect.stringContaining(wayOut) });
  expect(set.code).toBe(0);
  expect(jobs.sandbox.counts().executions).toHaveLength(2);
});

test('two concurrent commands share the rows, and each row is run once', async () => {
  await using jobs = await startJobs({ latencyMs: 50 });
  const file = await fileIn(
    jobs,
    'jobs.ndjson',
    lines(Array.from({ length: 12 }, (_, at) => adds(`job-${at}`))),
  );
  const argv = ['run', file, '--json', '--concurrency', '4'];

  const both = await Promise.all([jobs.run(argv), jobs.run(argv)]);

  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  for (const { out } of both) expect(JSON.parse(out)).toMatchObject({ done: 12, left: 0 });
  expect(jobs.sandbox.counts().executions).toHaveLength(12);
});

test('a failed job is named with what to do, its reason is in the output, and run exits 3', async () => {
  await using jobs = await startJobs();
  const file = await fileIn(jobs, 'jobs.ndjson', lines([adds('good'), adds('bad', 'no number')]));
  const output = join(jobs.folder, 'out.ndjson');

  const { code, out } = await jobs.run(['run', file, '--output', output]);

  const [good, bad] = await ndjsonIn(output);
  expect(code).toBe(3);
  expect(out).toContain('2 rows: 1 done now, 1 failed, 0 unknown, 0 left; 0 had ended before');
  expect(out).toMatch(/^ {2}failed: bad: /m);
  expect(out).toContain('platform-sync redrive bad');
  expect(good).toMatchObject({
    id: 'good',
    functionName: 'addNumbers',
    status: 'done',
    response: { result: 42 },
  });
  expect(bad).toMatchObject({ id: 'bad', status: 'failed' });
  expect(bad.error).toEqual(expect.any(String));
});

test('a row whose request may have been executed is named with what to do, and is not sent', async () => {
  await using jobs = await startJobs();
  const text = lines([adds('lost')]);
  const file = await fileIn(jobs, 'jobs.ndjson', text);
  const read = parseMessage(text.trim(), { messageId: '', allow: readAllow(undefined) });
  const contentHash = 'contentHash' in read ? (read.contentHash ?? '') : '';
  const ledger = jobs.ledgerAt(() => Date.now() - 3_600_000);
  await ledger.claim({ id: 'lost', type: 'run-function', contentHash, sender: 's' }, { leaseMs: 60_000 });
  await ledger.sent({ id: 'lost', fence: 1 });

  const { code, out } = await jobs.run(['run', file]);

  expect(code).toBe(3);
  expect(out).toContain(
    '1 row: 0 done now, 0 failed, 1 unknown, 0 left; 0 had ended before\n  unknown: lost: ',
  );
  expect(out).toContain("platform-sync jobs resolve --note 'WHAT YOU SAW' lost done");
  expect(jobs.sandbox.counts().executions).toEqual([]);
});

test('the progress line has the rows, the failures, what is left, the rate and the time', async () => {
  await using jobs = await startJobs({ latencyMs: 250 });
  const rows = [adds('bad', 'no number'), ...['a', 'b', 'c', 'd'].map((id) => adds(id))];
  const file = await fileIn(jobs, 'jobs.ndjson', lines(rows));
  const { screen, written } = createFakeScreen(200);

  await jobs.begin(['run', file, '--concurrency', '1'], jobs.settings, '', screen).ended;

  expect(written()).toMatch(
    /run: \d0%, \d+ s left, [\d.]+ a second, \d of about 5 rows, 1 failed, \d left, \d calls/,
  );
});

test('a row whose id belongs to another job with different content is not run', async () => {
  await using jobs = await startJobs();
  const first = await fileIn(jobs, 'first.ndjson', lines([adds('a')]));
  const second = await fileIn(jobs, 'second.ndjson', lines([adds('a', 41)]));
  const output = join(jobs.folder, 'out.ndjson');
  await jobs.run(['run', first]);

  const { code, out } = await jobs.run(['run', second, '--output', output]);

  expect(code).toBe(3);
  expect(out).toContain('failed: a: another job has this id, with other content');
  expect(await ndjsonIn(output)).toMatchObject([{ id: 'a', status: 'failed' }]);
  expect(jobs.sandbox.counts().executions).toHaveLength(1);
});

test('Ctrl-C waits for the requests in flight, writes the output, says how to run the rest, and exits 3', async () => {
  await using jobs = await startJobs({ latencyMs: 200 });
  const file = await fileIn(jobs, 'jobs.ndjson', lines(['a', 'b', 'c', 'd'].map((id) => adds(id))));
  const output = join(jobs.folder, 'out.ndjson');
  const argv = ['run', file, '--output', output, '--concurrency', '1'];

  const running = jobs.begin(argv, jobs.settings);
  await vi.waitFor(() => expect(jobs.sandbox.counts().requests).toBe(1), { interval: 5, timeout: 10_000 });
  running.interrupt();
  const { code, err } = await running.ended;
  const states = (await ndjsonIn(output)).map(({ status }) => status);
  const again = await jobs.run(argv);

  expect(code).toBe(3);
  expect(states).toEqual(['done', undefined, undefined, undefined]);
  expect(err).toContain(
    `stopped; 3 rows left; to run the rest: platform-sync run ${file} --output ${output}`,
  );
  expect(again.code).toBe(0);
  expect(jobs.sandbox.counts().executions).toHaveLength(4);
});

test('--dry-run checks everything, runs nothing, and creates nothing', async () => {
  await using jobs = await startJobs();
  const file = await fileIn(jobs, 'jobs.ndjson', lines([adds('a'), adds('b')]));

  const { code, out } = await jobs.run(['run', file, '--dry-run']);

  expect(code).toBe(0);
  expect(await readdir(jobs.folder)).toEqual(['jobs.ndjson']);
  expect(out).toMatch(
    /^2 rows would be run; nothing was run\n.*\n0 had ended before; jobs that have ended do not run again$/,
  );
  expect(jobs.sandbox.counts().requests).toBe(0);
});

test('nothing is run with a table that belongs to another store; with --new-ledger, jobs without a result are run', async () => {
  await using jobs = await startJobs();
  const file = await fileIn(jobs, 'jobs.ndjson', lines([adds('a')]));
  const invalid = await fileIn(jobs, 'invalid.ndjson', 'no job');
  const table = `sqlite:${join(jobs.folder, 'other.db')}`;
  const byOther = (of: string, ...more: readonly string[]) =>
    jobs.begin(['run', of, ...more], { ...jobs.settings, SYNC_TABLE: table }).ended;
  await jobs.run(['run', file]);
  const named = await jobs.readJson('table.json');

  const refused = await byOther(file);
  const faulty = await byOther(invalid, '--new-ledger');
  const stillNamed = await jobs.readJson('table.json');
  const both = await fileIn(jobs, 'both.ndjson', lines([adds('a'), adds('b')]));
  const again = await byOther(both, '--new-ledger');

  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain('recorded in table.json: the file that was SYNC_TABLE=sqlite:');
  // `--new-ledger` changes nothing if the command sends nothing.
  expect(faulty).toMatchObject({ code: 2, out: '' });
  expect(stillNamed).toEqual(named);
  expect(again.code).toBe(0);
  expect(again.err).toContain('jobs and texts that were sent before may be sent again');
  expect(jobs.sandbox.counts().executions).toHaveLength(2);
});

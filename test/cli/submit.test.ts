import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentOf, jsonReply } from '../base/aws/replies.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { startServer } from '../platform/scripted-server.ts';
import { runCommand } from './run-command.ts';
import { adds, call, lines, startJobs } from './start-jobs.ts';

const folder = folderOfEach();

const score = (id: string) => ({ type: 'score', id, texts: [{ id: '1', text: 'wonderful' }] });

test('every fault of every line is reported with its line number, and nothing is sent', async () => {
  await using jobs = await startJobs();
  const input = `${lines([score('a')])}{"version":\n\n${lines([{ type: 'score', texts: [] }, score('a')])}`;

  const { code, out, err } = await jobs.run(['submit', '-'], input);

  const counts = await jobs.countsOf(jobs.queue);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('-: expected one job per line; nothing was sent:');
  expect(err).toMatch(/^ {2}line 2: message: expected JSON/m);
  expect(err).toMatch(/^ {2}line 4: texts: /m);
  expect(err).toMatch(/^ {2}line 5: id: expected an id that no other line has, got a/m);
  expect(counts.waiting).toBe(0);
});

test('all jobs are sent, in more than one batch, and their ids are printed', async () => {
  await using jobs = await startJobs({ isInAws: true });
  const ids = Array.from({ length: 23 }, (_, index) => `job-${index}`);

  const { code, out } = await jobs.run(['submit', '-', '--json'], lines(ids.map(score)));

  const counts = await jobs.countsOf(jobs.queue);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ sent: 23, ids, blank: 0, short: 0, notSent: [] });
  expect(counts.waiting).toBe(23);
});

test('a run-function job without an id is sent with a random one; other jobs get an id from their content', async () => {
  await using jobs = await startJobs();
  const { id: _, ...sum } = adds('');
  const { id: __, ...withoutId } = score('a');

  const { out } = await jobs.run(['submit', '-', '--json'], lines([sum, withoutId]));
  const messages = await jobs.queue.receive({ max: 10, waitSeconds: 0, visibilitySeconds: 60 });

  const bodies = messages.map(({ body }) => JSON.parse(body));
  const [first, second] = JSON.parse(out).ids;
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toMatch(/^[0-9a-f]{64}$/);
  expect(bodies).toContainEqual({ version: 1, ...sum, id: first });
  expect(bodies).toContainEqual({ version: 1, ...withoutId });
});

test('--dry-run sends nothing, needs no queue, and also checks formulas', async () => {
  const set = (id: string, expression: string) =>
    lines([{ type: 'update-formula', id, calculationId: '12', expression }]);
  const dry = (input: string) => runCommand(['submit', '-', '--dry-run'], {}, input);

  const good = await dry(lines([score('a')]));
  const bad = await dry(`${set('good', 'MAX(`Amount`)')}${set('bad', 'MAX(')}`);

  expect(good).toMatchObject({ code: 0, out: '1 job would be sent; nothing was sent' });
  expect(bad).toMatchObject({ code: 2, out: '' });
  expect(bad.err).toMatch(
    /^platform-sync: -: expected one job per line; nothing was sent:\n {2}line 2: expression:1:\d+: [^\n]+$/,
  );
});

test('submit sends a formula that the platform may refuse, with a warning, but refuses it in a job with `strict`, and refuses a broken one in any job', async () => {
  await using jobs = await startJobs();
  const set = (expression: string, more: object = {}) =>
    lines([{ version: 1, type: 'update-formula', id: 'f', calculationId: '12', expression, ...more }]);
  const submit = (input: string) => jobs.begin(['submit', '-', '--no-undo'], jobs.shared, input).ended;
  const warning = 'line 1: expression:1:1: warning: The platform may not have a function "SQRT".';

  const strict = await submit(set('SQRT(4)', { strict: true }));
  const broken = await submit(set('SQRT(4'));
  const loose = await submit(set('SQRT(4)'));

  expect(strict).toMatchObject({ code: 2, err: expect.stringContaining(warning) });
  expect(broken).toMatchObject({
    code: 2,
    err: expect.stringContaining('line 1: expression:1:7: Expected ")"'),
  });
  expect(loose).toMatchObject({
    code: 0,
    err: expect.stringContaining(`-: the platform may refuse:\n  ${warning}`),
  });
});

test('submit reports a queue that cannot be reached and how much was sent, and exits 1', async () => {
  await using jobs = await startJobs({ isInAws: true });
  const environment = { ...jobs.shared, SYNC_QUEUE_URL: `${jobs.shared['SYNC_QUEUE_URL']}-of-nobody` };

  const { code, out, err } = await jobs.begin(['submit', '-'], environment, lines([score('a')])).ended;

  expect({ code, out }).toEqual({ code: 1, out: '0 jobs sent\n1 job may not have been sent\n  a' });
  expect(err).toContain('0 of 1 job are on the queue');
});

test('if SQS accepts only some jobs of a batch, submit counts and prints these, and exits 1', async () => {
  const refused = { Id: '2', Code: 'InvalidMessageContents', Message: 'no', SenderFault: true };
  await using sqs = await startServer(
    jsonReply({ Successful: [], Failed: [refused] }),
    jsonReply({ Successful: [], Failed: [] }),
  );
  const environment = { ...environmentOf(sqs), SYNC_QUEUE_URL: `${sqs.url}/1/jobs` };
  const ids = Array.from({ length: 12 }, (_, index) => `job-${index}`);

  const { code, out, err } = await runCommand(['submit', '-', '--json'], environment, lines(ids.map(score)));

  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    sent: 11,
    ids: ids.filter((id) => id !== 'job-2'),
    blank: 0,
    short: 0,
    notSent: ['job-2'],
  });
  expect(err).toContain('11 of 12 jobs are on the queue');
  expect(err).toContain('sent 11 of 12 messages, not number 3: InvalidMessageContents: no');
});

const { id: _, ...template } = call('', 'addNumbers', { first: '{{a:number}}', second: '{{b:number}}' });

async function ofCsv(csv: string | Buffer): Promise<readonly string[]> {
  const [table, json] = [join(folder.path, 'sums.csv'), join(folder.path, 'job.json')];
  await writeFile(table, csv);
  await writeFile(json, JSON.stringify(template));
  return ['submit', '--from-csv', table, '--template', json];
}

test('a dry run of a CSV checks every row, and shows the first three jobs', async () => {
  const argv = await ofCsv(Buffer.from('\uFEFFa;b\r\n1;2\r\n3;4\r\n5;6\r\n7;8\r\n', 'utf16le'));

  const people = await runCommand([...argv, '--dry-run']);
  const machines = JSON.parse((await runCommand([...argv, '--dry-run', '--json'])).out);

  const shown = people.out.split('\n');
  expect(people.code).toBe(0);
  expect(shown.slice(0, 3).map((line) => JSON.parse(line).inputVariables)).toEqual([
    { first: 1, second: 2 },
    { first: 3, second: 4 },
    { first: 5, second: 6 },
  ]);
  expect(shown.slice(3, 5)).toEqual(['and 1 job more', '4 jobs would be sent; nothing was sent']);
  expect(machines).toMatchObject({
    dryRun: true,
    sent: 0,
    first: [{ inputVariables: { first: 1 } }, {}, {}],
  });
  expect(machines.ids).toHaveLength(4);
});

test('submitting a CSV again with another row runs only that row', async () => {
  await using jobs = await startJobs();

  await jobs.run(await ofCsv('a,b\n1,2\n3,4\n1,2\n'));
  await jobs.run(['work', '--drain']);
  const again = await jobs.run([...(await ofCsv('a,b\n5,6\n3,4\n1,2\n1,2\n')), '--json']);
  await jobs.run(['work', '--drain']);

  expect(JSON.parse(again.out)).toMatchObject({ sent: 4, notSent: [] });
  expect(jobs.sandbox.counts().executions).toHaveLength(4);
});

import { expect, test } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { environmentOf, jsonReply } from '../base/aws/replies.ts';
import { startServer } from '../platform/scripted-server.ts';
import { countsOf, lines, startJobs } from './start-jobs.ts';

const score = (id: string) => ({ type: 'score', id, texts: [{ id: '1', text: 'wonderful' }] });
const call = {
  type: 'run-function',
  packageId: codePackages[0]?.id,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
};

test('every fault of every line is reported with its line number, and nothing is sent', async () => {
  await using jobs = await startJobs();
  const input = `${lines([score('a')])}{"version":\n\n${lines([{ type: 'score', texts: [] }, score('a')])}`;

  const { code, out, err } = await jobs.run(['submit', '-'], input);

  const counts = await countsOf(jobs.queue);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('-: expected one job per line; nothing was sent:');
  expect(err).toMatch(/^ {2}line 2: message: expected JSON/m);
  expect(err).toMatch(/^ {2}line 4: texts: expected a list of? ?.*1 to 100|^ {2}line 4: texts: /m);
  expect(err).toMatch(/^ {2}line 5: id: expected an id that no other line has, got a/m);
  expect(counts.waiting).toBe(0);
});

test('all jobs are sent, in more than one batch, and their ids are printed', async () => {
  await using jobs = await startJobs();
  const ids = Array.from({ length: 23 }, (_, index) => `job-${index}`);

  const { code, out } = await jobs.run(['submit', '-', '--json'], lines(ids.map(score)));

  const counts = await countsOf(jobs.queue);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ sent: 23, ids, notSent: [] });
  expect(counts.waiting).toBe(23);
});

test('a run-function without an id is sent with one; the others get theirs from their content', async () => {
  await using jobs = await startJobs();
  const { id: _, ...withoutId } = score('a');

  const { out } = await jobs.run(['submit', '-', '--json'], lines([call, withoutId]));
  const messages = await jobs.queue.receive({ most: 10, waitSeconds: 0, visibilitySeconds: 60 });

  const bodies = messages.map(({ body }) => JSON.parse(body));
  const [first, second] = JSON.parse(out).ids;
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toMatch(/^[0-9a-f]{64}$/);
  expect(bodies).toContainEqual({ version: 1, ...call, id: first });
  expect(bodies).toContainEqual({ version: 1, ...withoutId });
});

test('with --dry-run nothing is sent, and no queue is needed', async () => {
  await using jobs = await startJobs();

  const { code, out } = await jobs.begin(['submit', '-', '--dry-run'], {}, lines([score('a')])).ended;

  expect({ code, out }).toEqual({ code: 0, out: '1 job would be sent; nothing was sent' });
});

test('--dry-run checks formulas, too', async () => {
  await using jobs = await startJobs();
  const set = (id: string, expression: string) => ({
    type: 'update-formula',
    id,
    calculationId: '12',
    expression,
  });
  const given = lines([set('good', 'MAX(`Amount`)'), set('bad', 'MAX(')]);

  const { code, out, err } = await jobs.begin(['submit', '-', '--dry-run'], {}, given).ended;

  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(
    /^platform-sync: -: expected jobs that the platform can do; nothing was sent:\n {2}job 2 \(bad\): expression:1:\d+: [^\n]+$/,
  );
});

test('a type that SYNC_ALLOW leaves out is a fault of its line', async () => {
  await using jobs = await startJobs();
  const environment = { ...jobs.shared, SYNC_ALLOW: '{"types": ["data-files"]}' };

  const { code, err } = await jobs.begin(['submit', '-'], environment, lines([score('a')])).ended;

  expect(code).toBe(2);
  expect(err).toContain('line 1: type: expected an allowed value (data-files), got "score"');
});

test('reports a queue that cannot be reached and how much was sent, and exits 1', async () => {
  await using jobs = await startJobs();
  const environment = { ...jobs.shared, SYNC_QUEUE_URL: `${jobs.shared.SYNC_QUEUE_URL}-of-nobody` };

  const { code, out, err } = await jobs.begin(['submit', '-'], environment, lines([score('a')])).ended;

  expect({ code, out }).toEqual({ code: 1, out: '0 jobs sent\n1 job not certainly sent\n  a' });
  expect(err).toContain('0 of 1 job are certainly on the queue');
});

test('counts and prints the jobs that SQS accepted of a batch, and exits 1 for the others', async () => {
  await using jobs = await startJobs();
  const refused = { Id: '2', Code: 'InvalidMessageContents', Message: 'no', SenderFault: true };
  await using sqs = await startServer(
    jsonReply({ Successful: [], Failed: [refused] }),
    jsonReply({ Successful: [], Failed: [] }),
  );
  const environment = { ...environmentOf(sqs), SYNC_QUEUE_URL: `${sqs.url}/1/jobs` };
  const ids = Array.from({ length: 12 }, (_, index) => `job-${index}`);

  const { code, out, err } = await jobs.begin(['submit', '-', '--json'], environment, lines(ids.map(score)))
    .ended;

  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    sent: 11,
    ids: ids.filter((id) => id !== 'job-2'),
    notSent: ['job-2'],
  });
  expect(err).toContain('11 of 12 jobs are certainly on the queue');
  expect(err).toContain('sent 11 of 12 messages, not number 3: InvalidMessageContents: no');
});

test.for([
  [{ SYNC_TABLE: 'ledger' }, 'submit: expected SYNC_QUEUE_URL, the URL of the jobs queue, got nothing'],
  [{ SYNC_QUEUE_URL: 'jobs' }, 'SYNC_QUEUE_URL: expected the http or https URL of a queue'],
  [{ SYNC_QUEUE_URL: 'http://127.0.0.1:1/q', SYNC_ALLOW: '[' }, 'SYNC_ALLOW: expected JSON'],
  [
    { SYNC_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/1/jobs', AWS_ENDPOINT_URL: 'http://127.0.0.1:1' },
    'SYNC_QUEUE_URL: expected the host 127.0.0.1:1, which AWS_ENDPOINT_URL names, got sqs.eu-west-1.amazonaws.com',
  ],
] as const)('wrong settings exit 2: %j', async ([environment, expected]) => {
  await using jobs = await startJobs();

  const { code, err } = await jobs.begin(['submit', '-'], environment, lines([score('a')])).ended;

  expect(code).toBe(2);
  expect(err).toContain(expected);
});

test('a file without a job exits 2', async () => {
  await using jobs = await startJobs();

  const { code, err } = await jobs.run(['submit', '-'], '\n');

  expect(code).toBe(2);
  expect(err).toContain('expected at least one job, got none');
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteTableCommand, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDynamoClient } from '../../lib/table/dynamo-table.ts';
import { createTestTable } from '../base/aws/create-test-table.ts';
import { adds, lines, startJobs } from '../cli/start-jobs.ts';

let jobs: Awaited<ReturnType<typeof startJobs>>;

beforeEach(async () => {
  jobs = await startJobs({ isInAws: true });
});
afterEach(() => jobs[Symbol.asyncDispose]());

const ran = () => jobs.sandbox.counts().requests;
const run = (...argv: readonly string[]) => jobs.run(argv);
const runRows = async (ids: readonly string[], ...flags: readonly string[]) => {
  const file = join(jobs.folder, 'jobs.ndjson');
  await writeFile(file, lines(ids.map((id) => adds(id))));
  return run('run', file, ...flags);
};

/** Copies the table's rows. The returned `restore` creates the table again with only these. */
async function backUp() {
  const client = createDynamoClient(jobs.settings);
  const TableName = jobs.settings['SYNC_TABLE'] ?? '';
  const pages = await Array.fromAsync(paginateScan({ client }, { TableName }));
  const items = pages.flatMap(({ Items = [] }) => Items);
  return async function restore() {
    await client.send(new DeleteTableCommand({ TableName }));
    await createTestTable(TableName, jobs.settings);
    for (const Item of items) await client.send(new PutItemCommand({ TableName, Item }));
  };
}

test.each([
  ['was created anew', [], ['a', 'b', 'c']],
  ['was restored from an earlier time', ['a'], ['b', 'c']],
])(
  'nothing is sent with a table that %s, and the error names a job that it lacks',
  async (_, before, lost) => {
    if (before.length > 0) await runRows(before);
    const restore = await backUp();
    await runRows([...before, ...lost]);
    await restore();
    const requests = ran();

    const refused = await runRows(['a', 'b', 'c']);
    const worked = await jobs.workOff(adds('a'), adds('b'));
    const redriven = await run('redrive');

    expect([refused.code, worked.code, redriven.code]).toEqual([2, 2, 2]);
    expect(refused.err).toContain(`got one that lacks ${lost.length} of them, such as ${lost[0]}: it was`);
    expect(refused.err).toContain('docs/restore.md, "Restore from a point in time"');
    expect(ran()).toBe(requests);
  },
);

test('pace --resume --new-ledger imports the stored results, so that no job runs again', async () => {
  const restore = await backUp();
  await runRows(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  await restore();
  const requests = ran();

  const resumed = await run('pace', '--resume', '--new-ledger');
  const again = await runRows(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  const sentByThen = ran();
  const later = await runRows(['h']);

  expect([resumed.code, again.code, later.code, sentByThen]).toEqual([0, 0, 0, requests]);
  expect(ran()).toBe(requests + 1);
});

test('texts of a batch that a lost table knew are not paid for again', async () => {
  const texts = join(jobs.folder, 'texts.csv');
  await writeFile(texts, 'text\ngood\nbad\n');
  const score = (...flags: readonly string[]) =>
    run('score', texts, '--text', 'text', '--batch', 'may', ...flags);
  const restore = await backUp();
  await score();
  await restore();
  const requests = ran();

  const refused = await score();
  const again = await score('--new-ledger', '--json');

  expect([refused.code, again.code, ran()]).toEqual([2, 0, requests]);
  expect(refused.err).toContain('such as may.chunk-00000');
});

test.each([
  ['does not prevent', 30, 0],
  ['prevents', 27, 2],
])('a result that the table lacks %s sending %i days after its job was claimed', async (_, days, code) => {
  const day = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const old = join(jobs.folder, 'results', 'run-function', `dt=${day}`);
  await mkdir(old, { recursive: true });
  await writeFile(join(old, 'old.json'), '{}');

  const ended = await runRows(['a']);

  expect(ended.code).toBe(code);
});

import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../lib/store/open.ts';
import { tableCheckOf } from '../../lib/table/store-table.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { startS3Commands } from './start-s3-commands.ts';

const folder = folderOfEach();
const times = (text: string, words: string) => text.split(words).length - 1;
const WARNING = 'a file of this host, which other hosts do not share';

async function files() {
  const [texts, jobs] = [join(folder.path, 'texts.csv'), join(folder.path, 'jobs.ndjson')];
  await writeFile(texts, 'text\na wonderful thing\n');
  await writeFile(jobs, '{"version":1,"type":"data-files","ids":["1"]}\n');
  return { score: ['score', texts, '--text', 'text'], submit: ['submit', jobs] };
}

test('a bucket without SYNC_TABLE has its table in the user’s state folder, and commands that send warn of it once', async () => {
  await using commands = await startS3Commands({});
  const { score, submit } = await files();

  const scored = await commands.run(...score);
  const submitted = await commands.run(...submit);

  expect([scored.code, submitted.code]).toEqual([0, 0]);
  expect([times(scored.err, WARNING), times(submitted.err, WARNING)]).toEqual([1, 1]);
  const state = await readdir(join(commands.environment['XDG_STATE_HOME'] ?? '', 'platform-sync'));
  expect(state.filter((name) => name.endsWith('.db'))).toEqual([expect.stringMatching(/^[0-9a-f]{16}\.db$/)]);
});

test.for([
  ['jobs'],
  ['jobs', 'cancel', 'x'],
  ['redrive', 'x'],
  ['batches'],
  ['forget', '--yes', '--text-hash', 'a'.repeat(64)],
  ['pace'],
])('commands that only read the table in the user’s state folder warn of it too: %s', async (words) => {
  await using commands = await startS3Commands({});

  const { err } = await commands.run(...words);

  expect(times(err, WARNING)).toBe(1);
});

test('a local table may not send for a bucket that a stack writes to, and the error names the stack’s table', async () => {
  await using commands = await startS3Commands({});
  const store = await openStore(commands.location, { s3: commands.environment });
  await tableCheckOf('Acme-Table', { SYNC_STACK: 'acme' }, async () => store)();
  const { score, submit } = await files();

  const refused = [await commands.run(...score), await commands.run(...submit)];

  for (const { code, err } of refused) {
    expect(code).toBe(2);
    expect(err).toContain(
      `recorded in table.json: the DynamoDB table SYNC_TABLE=Acme-Table of the stack acme`,
    );
  }
  expect(commands.sandbox.counts().requests).toBe(0);
  await expect(readdir(commands.environment['XDG_STATE_HOME'] ?? '')).resolves.toEqual([]);
});

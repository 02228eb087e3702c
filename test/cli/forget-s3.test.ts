import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { textHashOf } from '../../lib/jobs/texts/cache/score-cache.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { startS3Commands } from './start-s3-commands.ts';

const file = join(folderOfAll(), 'texts.csv');

beforeAll(() => writeFile(file, 'id,text\n1,a wonderful thing\n2,an awful thing\n'));

/** The bytes of the table's SQLite file on this machine and of its write-ahead log. */
async function tableOf({ environment }: Awaited<ReturnType<typeof startS3Commands>>): Promise<string> {
  const state = join(environment['XDG_STATE_HOME'] ?? '', 'platform-sync');
  const names = (await readdir(state)).filter((name) => /\.db(-wal)?$/.test(name));
  return (await Promise.all(names.map((name) => readFile(join(state, name), 'latin1')))).join('\n');
}

const HASH = textHashOf('a wonderful thing');

test('a forgotten text cannot be read in any version of an object of the bucket, nor in the table’s file', async () => {
  await using commands = await startS3Commands({});
  await commands.run('score', file, '--text', 'text', '--id', 'id', '--batch', 'one');
  await commands.run('score', file, '--text', 'text', '--id', 'id', '--batch', 'two');
  const before = (await commands.readable()).join('\n');
  const rows = await tableOf(commands);

  const { code } = await commands.run('forget', '--yes', '--text-hash', HASH);

  const after = (await commands.readable()).join('\n');
  expect(code).toBe(0);
  expect(rows).toContain(HASH);
  expect(await tableOf(commands)).not.toContain(HASH);
  expect(before).toContain('a wonderful thing');
  expect(before).toContain(HASH);
  expect(after).not.toContain('a wonderful thing');
  expect(after).not.toContain(HASH);
  expect(after).toContain('an awful thing');
  expect((await commands.run('forget', '--yes', '--text-hash', HASH)).out).toMatch(
    /^there was nothing to erase\n/,
  );
});

test('a forgotten batch cannot be read in any version of an object of the bucket', async () => {
  await using commands = await startS3Commands({});
  await commands.run('score', file, '--text', 'text', '--id', 'id', '--batch', 'one');

  const { code } = await commands.run('forget', '--yes', '--batch', 'one');

  const after = (await commands.readable()).join('\n');
  expect(code).toBe(0);
  expect(after).not.toContain(' thing');
  expect(after).not.toContain(HASH);
  expect(after).not.toContain('/scores/one/');
  expect((await commands.run('forget', '--yes', '--batch', 'one')).err).toContain(
    'batch one: there was nothing to erase',
  );
});

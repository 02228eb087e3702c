import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { textHashOf } from '../../lib/jobs/texts/cache/cache-row.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import type { Store } from '../../lib/store/store.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { monday, publishLines, tuesday } from '../snapshot/changes/publish-lines.ts';
import { runCommand } from './run-command.ts';
import { startS3Commands } from './start-s3-commands.ts';

const folder = folderOfEach();
let store: Store;

beforeEach(async () => {
  store = createDirectoryStore(folder.path);
});

async function tables(...argv: readonly string[]) {
  const { out, ...ended } = await runCommand(['tables', ...argv], { SYNC_STORE: folder.path });
  return { ...ended, out: out.split('\n') };
}

const RESULT = 'results/score/dt=2001-01-01/a.json';

test('what is missing is listed, then made, and then nothing is missing', async () => {
  await publishLines(store, { run: monday, lines: ['{"id":1}', '{"id":2,"odd":3}'] });
  await store.put(RESULT, Buffer.from('{"version":1,"id":"a","type":"score","status":"done"}\n'));
  const days = ['--results-days', '100000'];

  const dry = await tables('--dry-run', ...days);
  const made = await tables(...days);
  const again = await tables(...days);

  expect([dry.code, made.code, again.code]).toEqual([0, 0, 0]);
  expect(dry.out).toEqual([
    'results score 2001-01-01: 1 file, missing',
    `calculations ${monday.id}: 1 file, missing`,
  ]);
  expect(made.out).toEqual([
    'results score 2001-01-01: 1 file, 1 rows',
    `calculations ${monday.id}: 1 file, 2 rows, 1 values in _other`,
  ]);
  expect(again.out).toEqual(['nothing is missing']);
});

test('only the places that are named are made, and one that is damaged is named', async () => {
  await publishLines(store, { run: monday, lines: ['{"id":1}'] });
  await publishLines(store, { run: tuesday, lines: ['no JSON'] });
  await store.put(RESULT, Buffer.from('{}'));

  const { code, out, err } = await tables('calculations', '--results-days', '100000', '--json');

  expect(code).toBe(3);
  expect(err).toBe('');
  expect(JSON.parse(out.join('\n'))).toMatchObject([
    {
      group: 'calculations',
      name: tuesday.id,
      kind: 'skipped',
      why: expect.stringContaining('expected a record as JSON'),
    },
    { group: 'calculations', name: monday.id, kind: 'made', files: 1, records: 1 },
  ]);
});

test('in a bucket, a text and a batch that are forgotten are in no Parquet, in no version', async () => {
  const file = join(folder.path, 'texts.csv');
  await writeFile(file, 'id,text\n1,a wonderful thing\n2,an awful thing\n');
  await using commands = await startS3Commands({});
  for (const batch of ['one', 'two'])
    await commands.run('score', file, '--text', 'text', '--id', 'id', '--batch', batch);
  await commands.run('tables');
  const before = (await commands.readable()).join('\n');

  await commands.run('forget', '--text-hash', textHashOf('a wonderful thing'));
  const after = (await commands.readable()).join('\n');
  const made = await commands.run('tables', 'scores');
  await commands.run('forget', '--batch', 'two');
  const end = (await commands.readable()).join('\n');

  expect(before).toContain('parquet/scores/one/part-00000.parquet');
  expect(after).not.toContain('parquet/scores/');
  expect(made.out.trim().split('\n')).toEqual(['scores one: 1 file, 2 rows', 'scores two: 1 file, 2 rows']);
  expect(end).toContain('parquet/scores/one/');
  expect(end).not.toContain('/scores/two/');
});

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';

const parent = folderOfEach();

test.each([
  [['runs']],
  [['diff']],
  [['report', '--output', '-']],
  [['where-used', '1']],
  [['query', 'SELECT 1', '--csv']],
  [['tables']],
  [['prune', '--keep', '1', '--yes']],
  [['batches']],
  [['formula', 'log', '1']],
  [['publish', 'calculations', '20261116T090000Z-aaaaaa']],
  [['jobs']],
  [['jobs', 'results', '--output', 'results.csv']],
  [['jobs', 'cancel', 'a']],
  [['jobs', 'resolve', 'a', 'done', '--note', 'seen']],
  [['redrive']],
  [['work', '--drain']],
  [['pace', '--pause']],
  [['forget', '--yes', '--batch', 'may']],
  [['forget', '--yes', '--text-hash', 'a'.repeat(64)]],
  [['call', '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403', '1.0.0', 'addNumbers']],
  [['formula', 'undo', 'may']],
  [['digest']],
  [['lineage']],
  [['mcp']],
])('%j names a folder that does not exist, exits 2, and does not create it', async (argv) => {
  const folder = join(parent.path, 'mistyped');

  const { code, err } = await runCommand(argv, { SYNC_STORE: folder });

  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining(`expected a directory that exists, got "${folder}"`),
  });
  await expect(access(folder)).rejects.toThrow('ENOENT');
});

test.each([[['runs']], [['report', '--output', '-']], [['query', 'SELECT 1', '--csv']]])(
  '%j names a bucket that does not exist, and exits 2',
  async (argv) => {
    await using aws = await startTestAws({ buckets: [] });

    const { code, err } = await runCommand(argv, {
      ...aws.settings,
      SYNC_STORE: 's3://no-such-bucket/nightly',
    });

    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('no-such-bucket') });
  },
);

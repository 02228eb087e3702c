import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { createFakeTerminal } from './fake-terminal.ts';

test.each([
  [['runs']],
  [['diff']],
  [['report', '--output', '-']],
  [['where-used', '1']],
  [['query', 'SELECT 1', '--csv']],
  [['tables']],
  [['prune', '--keep', '1']],
  [['batches']],
  [['formula', 'log', '1']],
  [['publish', 'calculations', '20261116T090000Z-aaaaaa']],
])('%j: a folder that does not exist is named, exits 2, and is not created', async (argv) => {
  const root = await mkdtemp(join(tmpdir(), 'missing-'));
  const folder = join(root, 'mistyped');
  const { terminal, err } = createFakeTerminal({ SYNC_STORE: folder });

  const code = await runCommandLine(argv, terminal);

  expect({ code, err: err() }).toEqual({
    code: 2,
    err: expect.stringContaining(`expected a directory that exists, got "${folder}"`),
  });
  await expect(access(folder)).rejects.toThrow('ENOENT');
  await rm(root, { recursive: true });
});

test.each([[['runs']], [['report', '--output', '-']], [['query', 'SELECT 1', '--csv']]])(
  '%j: a bucket that does not exist is named, and exits 2',
  async (argv) => {
    await using aws = await startTestAws({ buckets: [] });
    const { terminal, err } = createFakeTerminal({
      ...aws.settings,
      SYNC_STORE: 's3://no-such-bucket/nightly',
    });

    const code = await runCommandLine(argv, terminal);

    expect({ code, err: err() }).toEqual({ code: 2, err: expect.stringContaining('no-such-bucket') });
  },
);

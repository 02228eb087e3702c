import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each([
  { file: 'infra/show-stack.ts', words: ['nosuch'], says: 'FUNCTION: expected one of move-jobs, run-jobs, ' },
  { file: 'infra/show-stack.ts', words: ['snapshot', 'no/such'], says: 'FILE: no/such does not exist' },
  { file: 'test/smoke/run.ts', words: ['--nosuch'], says: "Unknown option '--nosuch'" },
  { file: 'test/smoke/run.ts', words: ['stack', '--job', '{'], says: '--job: expected JSON' },
])('$file $words is refused with one line', ({ file, words, says }) => {
  const run = spawnSync(process.execPath, [file, ...words], { encoding: 'utf8' });

  expect(run).toMatchObject({ status: 2, stdout: '' });
  expect(run.stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(says)]);
});

test('an error of AWS’s command line is reported in one line, and the command fails', () => {
  const run = spawnSync(process.execPath, ['test/smoke/run.ts', 'stack'], {
    encoding: 'utf8',
    env: { PATH: '' },
  });

  expect(run).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'aws cloudformation describe-stacks: expected the command aws on the PATH, got none\n',
  });
});

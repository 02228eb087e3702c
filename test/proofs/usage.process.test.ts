import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { numberOption, oneOf } from './usage.ts';

test('a whole number is taken', () => {
  expect(['0', '245'].map((given) => numberOption('seeds', given))).toEqual([0, 245]);
});

test.each(['', 'x', '-1', '1.5', '1e3', ' 7', '1234567890'])(
  '%j is refused, and the option named',
  (given) => {
    expect(() => numberOption('seeds', given)).toThrow(`--seeds: expected a whole number, got "${given}"`);
  },
);

test('a name that there is not is refused, and all are named', () => {
  expect(oneOf('a target', 'rows', ['rows', 'formulas'])).toBe('rows');
  expect(() => oneOf('a target', 'nosuch', ['rows', 'formulas'])).toThrow(
    'a target: expected one of rows; formulas, got "nosuch"',
  );
});

test.each([
  { command: 'fuzz', words: ['nosuch'], says: 'a target: expected one of responses; ' },
  { command: 'mutations', words: ['nosuch'], says: 'a group: expected one of pace; ' },
  { command: 'whole', words: ['--seeds', 'x'], says: '--seeds: expected a whole number' },
  { command: 'exploration', words: ['--nosuch'], says: "Unknown option '--nosuch'" },
])('$command $words is refused in one line', ({ command, words, says }) => {
  const run = spawnSync(process.execPath, [`test/proofs/${command}/run.ts`, ...words], { encoding: 'utf8' });

  expect(run).toMatchObject({ status: 2, stdout: '' });
  expect(run.stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(says)]);
});

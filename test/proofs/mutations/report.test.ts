import { globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, test } from 'vitest';
import { groupNames, groups } from './groups.ts';
import { lookedAt } from './looked-at.ts';
import { type Mutant, printed, reachesFloor, reachesGoal, reportOf } from './report.ts';

const mutant = (status: string, line = 1): Mutant => ({
  file: 'lib/a.ts',
  line,
  code: 'if (a && b) return;',
  from: 'a && b',
  to: 'true',
  status,
});

const many = (count: number, status: string) => Array.from({ length: count }, () => mutant(status));

describe('a group', () => {
  test('reaches its goal if nine of ten mutants were noticed', () => {
    const nine = reportOf('a', [...many(8, 'Killed'), mutant('Timeout'), mutant('Survived')], []);
    const less = reportOf('a', [...many(9, 'Killed'), ...many(2, 'NoCoverage')], []);

    expect(reachesGoal(nine)).toBe(true);
    expect(reachesGoal(less)).toBe(false);
  });

  test('reaches it too if somebody has looked at every survivor', () => {
    const why = 'b is always true here';
    const looked = { file: 'lib/a.ts', code: 'a && b', to: ['true'], why };
    const survived = [mutant('Survived')];

    expect(reachesGoal(reportOf('a', survived, [looked]))).toBe(true);
    expect(reachesGoal(reportOf('a', survived, [{ ...looked, to: ['false'] }]))).toBe(false);
    expect(reachesGoal(reportOf('a', survived, [{ ...looked, file: 'lib/b.ts' }]))).toBe(false);
    expect(reachesGoal(reportOf('a', survived, [{ ...looked, code: 'a || b' }]))).toBe(false);
  });

  test('is printed with its survivors, and why they need no test', () => {
    const looked = { file: 'lib/a.ts', code: 'a && b', why: 'b is always true here' };
    const mutants = [...many(6, 'Killed'), mutant('Timeout'), mutant('NoCoverage', 12)];

    expect(printed([reportOf('pace', mutants, [looked])]).split('\n')).toEqual([
      'group  mutants  killed  timed out  survived  looked at   score',
      'pace         8       6          1         1          1  87.5 %',
      '',
      'lib/a.ts:12  a && b → true, which no test reaches',
      '    looked at: b is always true here',
    ]);
  });
});

test('a sample reaches its floor if 85 of 100 mutants of all groups were noticed', () => {
  const well = reportOf('a', many(50, 'Killed'), []);
  const poorly = (survived: number) =>
    reportOf('b', [...many(50 - survived, 'Timeout'), ...many(survived, 'Survived')], []);

  expect(reachesFloor([well, poorly(15)])).toBe(true);
  expect(reachesFloor([well, poorly(16)])).toBe(false);
  expect(reachesFloor([reportOf('a', [], [])])).toBe(false);
});

test.each(groupNames)('the group %s names code and tests that exist', (name) => {
  const { mutate, tests } = groups[name];

  for (const glob of [...mutate, ...tests]) expect(globSync(glob), glob).not.toEqual([]);
});

test('what was looked at is still in the code', () => {
  const files = Object.values(groups).flatMap(({ mutate }) => mutate.flatMap((glob) => globSync(glob)));

  for (const { file, code } of lookedAt) {
    const named = files.filter((path) => matchesGlob(path, file));
    expect(
      named.some((path) => readFileSync(path, 'utf8').includes(code)),
      `${file}: ${code}`,
    ).toBe(true);
  }
});

import { globSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { groupNames, groups } from './groups.ts';
import { type Mutant, printed, reachesFloor, reachesGoal, reportOf } from './report.ts';

const mutant = (status: string, line = 1): Mutant => ({
  file: 'lib/a.ts',
  line,
  from: 'a && b',
  to: 'true',
  status,
});

const many = (count: number, status: string) => Array.from({ length: count }, () => mutant(status));

describe('a group', () => {
  test('reaches its goal if nine of ten mutants were noticed', () => {
    const nine = reportOf('a', [...many(8, 'Killed'), mutant('Timeout'), mutant('Survived')]);
    const less = reportOf('a', [...many(9, 'Killed'), ...many(2, 'NoCoverage')]);

    expect(reachesGoal(nine)).toBe(true);
    expect(reachesGoal(less)).toBe(false);
  });

  test('is printed with its survivors', () => {
    const mutants = [...many(6, 'Killed'), mutant('Timeout'), mutant('NoCoverage', 12)];

    expect(printed([reportOf('pace', mutants)]).split('\n')).toEqual([
      'group  mutants  killed  timed out  survived   score',
      'pace         8       6          1         1  87.5 %',
      '',
      'lib/a.ts:12  a && b → true, which no test reaches',
    ]);
  });
});

test('a sample reaches its floor if 85 of 100 mutants of all groups were noticed', () => {
  const well = reportOf('a', many(50, 'Killed'));
  const poorly = (survived: number) =>
    reportOf('b', [...many(50 - survived, 'Timeout'), ...many(survived, 'Survived')]);

  expect(reachesFloor([well, poorly(15)])).toBe(true);
  expect(reachesFloor([well, poorly(16)])).toBe(false);
  expect(reachesFloor([reportOf('a', [])])).toBe(false);
});

test.each(groupNames)('the group %s names code and tests that exist', (name) => {
  const { mutate, tests } = groups[name];

  for (const glob of [...mutate, ...tests]) expect(globSync(glob), glob).not.toEqual([]);
});

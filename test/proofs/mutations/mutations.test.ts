import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { groupNames, groups } from './groups.ts';
import { type Mutant, reachesFloor, reachesGoal, reportOf } from './report.ts';

test.each(groupNames)('the group of mutations %s names code and tests that exist', (name) => {
  const { mutate, tests } = groups[name];

  for (const glob of [...mutate, ...tests]) expect(globSync(glob), glob).not.toEqual([]);
});

/** A report of a hundred changes, with this number of survivors. */
const survivedBy = (survived: number) =>
  reportOf(
    'pace',
    Array.from({ length: 100 }, (_, at): Mutant => {
      const status = at < survived ? 'Survived' : at % 2 === 0 ? 'Killed' : 'Timeout';
      return { file: 'lib/pace/budget.ts', line: at + 1, from: 'a', to: 'b', status };
    }),
  );

test('the tests of a group must notice nine in ten of its mutants', () => {
  expect([survivedBy(10), survivedBy(11)].map(reachesGoal)).toEqual([true, false]);
});

test.each([
  [1, 19],
  [3, 45],
  [100, 1_090],
])(
  'of a sample of %i hundred mutants, the tests may miss %i by chance, but not one more',
  (hundreds, most) => {
    const sampleWith = (survived: number) =>
      Array.from({ length: hundreds }, (_, at) => survivedBy(Math.floor((survived + at) / hundreds)));

    expect([most, most + 1].map((survived) => reachesFloor(sampleWith(survived)))).toEqual([true, false]);
  },
);

test('an empty sample proves nothing', () => {
  expect(reachesFloor([reportOf('pace', [])])).toBe(false);
});

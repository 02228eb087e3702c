import { matchesGlob, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { groupOf, groups } from './groups.ts';

/** The tests of the group that the environment names: one process runs one group. Default: those of all. */
export function testsInProcess(): readonly string[] {
  const name = process.env['MUTANTS_GROUP'];
  return name === undefined ? Object.values(groups).flatMap(({ tests }) => tests) : groupOf(name).tests;
}

/** Runs the files in the order in which their group lists them: a mutant costs what runs until the first failure. */
export class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const tests = testsInProcess();
    const rankOf = ({ moduleId }: TestSpecification) =>
      tests.findIndex((glob) => matchesGlob(relative('.', moduleId), glob));
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

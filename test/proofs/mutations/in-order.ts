import { matchesGlob, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { groups } from './groups.ts';
import { processSettings } from './process-settings.ts';

/** The tests of the group that this process runs. Default: those of all. */
export function testsInProcess(): readonly string[] {
  const group = processSettings()?.group;
  return group === undefined ? Object.values(groups).flatMap(({ tests }) => tests) : groups[group].tests;
}

/** Runs the files in the order in which their group lists them: a change costs what runs until the first failure. */
export class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const tests = testsInProcess();
    const rankOf = ({ moduleId }: TestSpecification) =>
      tests.findIndex((glob) => matchesGlob(relative('.', moduleId), glob));
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

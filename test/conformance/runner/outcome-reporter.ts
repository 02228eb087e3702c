import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { firstLine } from '../../counts.ts';
import type { Report } from './judge.ts';

/** Writes the report for `judge` to the file that CONFORMANCE_REPORT names. Vitest's JSON reporter omits hooks that threw. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const file = process.env['CONFORMANCE_REPORT'];
    if (file === undefined) throw new TypeError('CONFORMANCE_REPORT: expected a file, got nothing');
    const report: Report = {
      tests: modules.flatMap((module) =>
        [...module.children.allTests()].map((test) => ({
          name: test.fullName.replaceAll(' > ', ' '),
          state: test.result().state,
          reason: firstLine(test.result().errors?.[0]?.message ?? ''),
        })),
      ),
      broken: [...modules.flatMap(brokenIn), ...errors.map(() => 'an error outside all tests')],
    };
    writeFileSync(file, JSON.stringify(report));
  }
}

/** The file if it did not load, and each group in it whose hook threw. */
function brokenIn(module: TestModule): readonly string[] {
  const groups = [module, ...module.children.allSuites()].filter((each) => each.errors().length > 0);
  const unfinished = [...module.children.allTests()].some((test) => test.result().state === 'pending');
  const whys = groups.map((group) => firstLine(group.errors()[0]?.message ?? ''));
  return [
    ...whys.map((why) => `${module.relativeModuleId}: ${why}`),
    ...(unfinished ? [module.relativeModuleId] : []),
  ];
}

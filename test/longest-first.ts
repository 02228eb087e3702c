import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files, slowest first. Most of them wait a lot, while other files use the cores. In a fresh clone Vitest
 * has no recorded durations, and estimates them by size.
 */
const LONGEST: readonly string[] = [
  'cli/tour.process.test.ts',
  'infra/deployed.process.test.ts',
  'infra/synth.process.test.ts',
  'jobs/killed-worker.process.test.ts',
  'cli/jobs.test.ts',
  'local-aws/functions/event-source-mapping.process.test.ts',
  'cli/work.test.ts',
  'snapshot/killed.process.test.ts',
  'functions/split-texts.process.test.ts',
  'cli/broken-states.test.ts',
  'store/directory.test.ts',
  'local-aws/functions/create-handler.process.test.ts',
];

/** Starts with the slowest files, so that no worker is idle while another one runs the last of them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONGEST.indexOf(relative(import.meta.dirname, moduleId));
      return rank < 0 ? LONGEST.length : rank;
    };
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

import { defineCommand } from '../command.ts';
import { LISTED, LISTED_JSON, momentOption, numberOption, placeOf } from '../options/options.ts';

/** `diff [SOURCE] [OLD] [NEW]`: what changed between two published runs. Needs only the store. */
export const diff = defineCommand({
  does: 'Show what changed between two published runs.',
  arguments: [
    placeOf('every published source'),
    ['[old]', 'the earlier run (default: the one that NEW was compared with when it was published)'],
    ['[new]', 'the later run (default: the last published one)'],
  ],
  options: [
    [
      '--since <time>',
      'compare with the run that was the last one then: so long ago (12h, 7d, 4w), or a date',
      momentOption(),
    ],
    [
      '--limit <n>',
      `the most changes to list (default: ${LISTED}; with --json: ${LISTED_JSON})`,
      numberOption(0, 1e6),
    ],
    [
      '--memory <mb>',
      'megabytes of memory for comparing records that are not in order',
      numberOption(1, 100_000),
      128,
    ],
    ['--json', 'print one JSON value: an object, or a list of objects if no source is given'],
  ],
  examples: ['diff calculations', 'diff calculations --since 7d', 'diff --json'],
  async run([place, old, now], flags, terminal) {
    const { runDiff } = await import('../snapshots/run-diff.ts');
    return runDiff({ place, old, now }, flags, terminal);
  },
});

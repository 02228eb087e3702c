import { defineCommand } from '../command.ts';
import { momentOption, numberOption, placeOf } from '../options/options.ts';
import { exitCodes } from '../terminal/terminal.ts';

/** `prune [SOURCE]`: removes old runs. Needs only the store, and Glue where partitions are. */
export const prune = defineCommand({
  does: 'Remove old runs: their records, Parquet, changes and partitions, and what is under work/. The newest published run of each place stays.',
  arguments: [placeOf('every place')],
  options: [
    ['--keep <n>', 'keep the newest published runs of each place', numberOption(1, 100_000)],
    [
      '--older-than <time>',
      'remove runs that started before: so long ago (90d, 12w), or a date',
      momentOption(),
    ],
    ['--dry-run', 'only list what would be removed'],
    ['--json', 'print what was removed as one JSON value'],
  ],
  examples: ['prune calculations --keep 30 --dry-run', 'prune --older-than 90d'],
  async run([place], flags, terminal, command) {
    if ((flags.keep === undefined) === (flags.olderThan === undefined))
      command.error(
        `error: expected either --keep or --older-than, got ${flags.keep === undefined ? 'none' : 'both'}`,
        { exitCode: exitCodes.usage },
      );
    const { runPrune } = await import('../snapshots/run-prune.ts');
    return runPrune(place, flags, terminal);
  },
});

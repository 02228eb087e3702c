import type { Command } from 'commander';
import type { Place } from '../../snapshot/keys.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import type { AddCommand } from '../command.ts';
import { momentOption } from '../moment-option.ts';
import { numberOption } from '../options.ts';
import { placeArgument } from '../place-argument.ts';
import type { PruneFlags } from '../run-prune.ts';
import { exitCodes } from '../terminal.ts';

/** `prune [SOURCE]`: removes old runs. Needs only the store, and Glue where partitions are. */
export const addPrune: AddCommand = (program, terminal, finish) => {
  program
    .command('prune')
    .description(
      'Remove old runs: their records, Parquet, changes and partitions, and what is under work/. The newest published run of each place stays.',
    )
    .argument(
      '[source]',
      `one of ${sources.join(', ')}, or SOURCE.NAME (default: every place)`,
      placeArgument,
    )
    .option('--keep <n>', 'keep the newest published runs of each place', numberOption(1, 100_000))
    .option(
      '--older-than <time>',
      'remove runs that started before: so long ago (90d, 12w), or a date',
      momentOption(),
    )
    .option('--dry-run', 'only list what would be removed')
    .option('--json', 'print what was removed as one JSON value')
    .action(async (place: Place | undefined, flags: PruneFlags, command: Command) => {
      if ((flags.keep === undefined) === (flags.olderThan === undefined))
        command.error(
          `error: expected either --keep or --older-than, got ${flags.keep === undefined ? 'none' : 'both'}`,
          { exitCode: exitCodes.usage },
        );
      // Loaded only when it is needed, so that the other commands start without it.
      const { runPrune } = await import('../run-prune.ts');
      finish(await runPrune(place, flags, terminal));
    });
};

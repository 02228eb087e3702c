import type { Place } from '../../snapshot/keys.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import type { AddCommand } from '../command.ts';
import { LISTED, LISTED_JSON } from '../listed.ts';
import { momentOption } from '../moment-option.ts';
import { numberOption } from '../options.ts';
import { placeArgument } from '../place-argument.ts';
import type { DiffFlags } from '../run-diff.ts';

/** `diff [SOURCE] [OLD] [NEW]`: what changed between two published runs. Needs only the store. */
export const addDiff: AddCommand = (program, terminal, finish) => {
  program
    .command('diff')
    .description('Show what changed between two published runs.')
    .argument(
      '[source]',
      `one of ${sources.join(', ')}, or SOURCE.NAME (default: every published source)`,
      placeArgument,
    )
    .argument('[old]', 'the earlier run (default: the one that NEW was compared with when it was published)')
    .argument('[new]', 'the later run (default: the last published one)')
    .option(
      '--since <time>',
      'compare with the run that was the last one then: so long ago (12h, 7d, 4w), or a date',
      momentOption(),
    )
    .option(
      '--limit <n>',
      `the most changes to list (default: ${LISTED}; with --json: ${LISTED_JSON})`,
      numberOption(0, 1e6),
    )
    .option(
      '--memory <mb>',
      'megabytes of memory for comparing records that are not in order',
      numberOption(1, 100_000),
      128,
    )
    .option('--json', 'print one JSON value: an object, or a list of objects if no source is given')
    .action(
      async (
        place: Place | undefined,
        old: string | undefined,
        now: string | undefined,
        flags: DiffFlags,
      ) => {
        // Loaded only when it is needed, so that the other commands start without it.
        const { runDiff } = await import('../run-diff.ts');
        finish(await runDiff({ place, old, now }, flags, terminal));
      },
    );
};

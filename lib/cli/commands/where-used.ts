import { type FindableKind, findableKinds } from '../../report/graph/used-thing.ts';
import type { AddCommand } from '../command.ts';
import { LISTED_DEPENDENTS, LISTED_JSON } from '../listed.ts';
import { choiceOption, numberOption } from '../options.ts';
import type { WhereUsedFlags } from '../where-used/run-where-used.ts';

const KINDS = Object.keys(findableKinds) as readonly FindableKind[];

/** `where-used ID`: what depends on a thing, over several hops. Needs only the store. */
export const addWhereUsed: AddCommand = (program, terminal, finish) => {
  program
    .command('where-used')
    .description('Show what depends on a dataset, calculation, card or file: what would break without it.')
    .argument('<id>', 'an id; of a file or directory, its path or its id')
    .option('--kind <kind>', `only a thing of this kind: one of ${KINDS.join(', ')}`, choiceOption(KINDS))
    .option('--hops <n>', 'how many uses away, at most (default: any number)', numberOption(1, 1_000_000))
    .option(
      '--limit <n>',
      `the most dependents to list (default: ${LISTED_DEPENDENTS}; with --json: ${LISTED_JSON})`,
      numberOption(0, 100_000),
    )
    .option('--json', 'print one JSON value')
    .action(async (id: string, flags: WhereUsedFlags) => {
      // Loaded only when it is needed, so that the other commands start without it.
      const { runWhereUsed } = await import('../where-used/run-where-used.ts');
      finish(await runWhereUsed(id, flags, terminal));
    });
};

import { type FindableKind, findableKinds } from '../../report/graph/used-thing.ts';
import { defineCommand } from '../command.ts';
import { choiceOption, LISTED_DEPENDENTS, LISTED_JSON, numberOption } from '../options/options.ts';

const KINDS = Object.keys(findableKinds) as readonly FindableKind[];

const readKind = choiceOption(KINDS);

/** `where-used ID`: what depends on a thing, over several hops. Needs only the store. */
export const whereUsed = defineCommand({
  does: 'Show what depends on a dataset, calculation, card or file: what would break without it.',
  arguments: [['<id>', 'an id; of a file or directory, its path or its id']],
  options: [
    ['--kind <kind>', `only a thing of this kind: one of ${KINDS.join(', ')}`, readKind],
    ['--hops <n>', 'how many uses away, at most (default: any number)', numberOption(1, 1_000_000)],
    [
      '--limit <n>',
      `the most dependents to list (default: ${LISTED_DEPENDENTS}; with --json: ${LISTED_JSON})`,
      numberOption(0, 100_000),
    ],
    ['--json', 'print one JSON value'],
  ],
  examples: [
    'where-used cd27b9a0-a9d4-446b-9b16-02103df7f112',
    'where-used 1008 --kind calculation --hops 2',
    'where-used cd27b9a0-a9d4-446b-9b16-02103df7f112 --json --limit 10000',
    'where-used /reports/2026 --kind file',
  ],
  async run([id], flags, terminal) {
    const { runWhereUsed } = await import('../where-used/run-where-used.ts');
    return runWhereUsed(id, flags, terminal);
  },
});

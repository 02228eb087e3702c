import { idDigits } from '../../platform/index.ts';
import type { CommandFamily } from '../command.ts';
import {
  AT,
  ENCODING,
  numberOption,
  parserOf,
  repeatable,
  SEPARATOR,
  setName,
  WHOLE_ROWS,
} from '../options/options.ts';

const STRICT = ['--strict', 'refuse formulas that have a warning or that the platform cannot parse'] as const;

/** Parses the id of a calculation. */
const calculationId = parserOf('the digits of an integer', idDigits);

/** Commands that check, set and undo formulas. */
export const formulas = {
  formula: {
    description:
      'Check formulas on this machine, set them on the platform, undo changes, show earlier formulas, and import or export formulas.',
    needsStore: false,
    json: false,
    examples: ['formula check formula.txt', 'formula set 1008 formula.txt --dry-run', 'formula log 1008'],
  },
  'formula check': {
    description:
      'Parse a formula on this machine: report its errors, and warn about what the platform may refuse.',
    needsStore: false,
    arguments: [['<file>', 'the file with the formula; - for standard input']],
    examples: ['formula check formula.txt', 'formula check - --json'],
    load: () => import('../commands/formula-check.ts'),
  },
  'formula set': {
    description: 'Set the formula of a calculation. The update is never sent twice.',
    needsStore: false,
    arguments: [
      ['<id>', 'the id of the calculation', calculationId],
      ['<file>', 'the file with the formula; - for standard input'],
    ],
    options: [
      STRICT,
      ['--dry-run', 'show what would change, but change nothing'],
      ['--force', 'send the formula even if it is refused here, or if the current formula is not stored'],
      [
        '--unless-changed-since <ms>',
        'stop if the calculation was changed after this time, in epoch milliseconds; needs --name',
        numberOption(0, Number.MAX_SAFE_INTEGER),
      ],
      ['--name <name>', 'the name of the calculation, which the search needs to find it'],
    ],
    examples: [
      'formula set 1008 formula.txt --dry-run',
      'formula set 1008 formula.txt --unless-changed-since 1763712000000 --name Revenue',
    ],
    load: () => import('../commands/formula-set.ts'),
  },
  'formula import': {
    description:
      'Store the text of formulas, which snapshots do not contain, from a list of {id, expression, name?, datasetId?}: CSV, NDJSON, a JSON array, or the result of a run-function job.',
    needsStore: false,
    arguments: [['[file]', 'the list; - for standard input']],
    options: [
      ['--from-job <id>', 'import the result of this run-function job'],
      ENCODING,
      SEPARATOR,
      WHOLE_ROWS,
    ],
    examples: ['formula import formulas.csv', 'formula import --from-job nightly-formulas'],
    load: () => import('../commands/formula-import.ts'),
  },
  'formula export': {
    description:
      'Write a file for each formula whose text is known, with its name and id, for git: the same formulas give the same files. Deletes the files of formulas that no longer exist; files that this command did not write stay unchanged.',
    arguments: [['<folder>', 'where to write them']],
    options: [AT],
    examples: ['formula export formulas', 'formula export formulas --at 2026-11-21'],
    load: () => import('../commands/formula-export.ts'),
  },
  'formula rename-column': {
    description:
      'Rename a column in all formulas whose text is known: writes a CSV for `formula apply`, and sends nothing.',
    arguments: [
      ['<old>', 'the name of the column, in any case'],
      ['<new>', 'its new name'],
    ],
    required: [['--output <file>', 'the CSV to write']],
    options: [['--dataset <id>', 'only in formulas that use the column of this dataset']],
    examples: [
      'formula rename-column Revenue "Net Revenue" --output changes.csv',
      'formula rename-column Revenue "Net Revenue" --dataset cd27b9a0-a9d4-446b-9b16-02103df7f112 --output changes.csv',
    ],
    load: () => import('../commands/formula-rename-column.ts'),
  },
  'formula apply': {
    description:
      'Set the formulas of a CSV with the columns id and expression, and optionally name and was (the formula that you expect to replace). Each formula is sent only once. To continue after a stop, run the same command again.',
    needsStore: false,
    arguments: [['<changes>', 'the CSV']],
    required: [['--name <name>', 'a name for this set of changes, for `formula undo`', setName]],
    options: [
      STRICT,
      ENCODING,
      SEPARATOR,
      WHOLE_ROWS,
      ['--dry-run', 'check the formulas and show what depends on them, but send nothing'],
      ['--markdown', 'with --dry-run: print a table for a pull request'],
      [
        '--max-affected <n>',
        'send nothing if more than n things depend on the formulas',
        numberOption(0, 1e9),
      ],
      [
        '--no-undo-for <id...>',
        'set these calculations even if their current formula is not stored or differs from `was`: the change cannot be undone',
        (text: string, before?: readonly string[] | true) =>
          repeatable(calculationId)(text, before === true ? [] : before),
        [] as readonly string[],
      ],
      ['--submit', 'put the updates on the queue instead of running them here'],
    ],
    examples: [
      'formula apply changes.csv --name may --dry-run --markdown',
      'formula apply changes.csv --name may --max-affected 50',
    ],
    load: () => import('../commands/formula-apply.ts'),
  },
  'formula undo': {
    description:
      'Restore the formulas that `formula apply` replaced under this name, except any that were changed since then.',
    arguments: [['<name>', 'the name of the set', setName]],
    options: [
      [
        '--even-if-changed <id...>',
        'restore these calculations even if they were changed since then',
        repeatable(calculationId),
      ],
    ],
    examples: ['formula undo may', 'formula undo may --even-if-changed 1008'],
    load: () => import('../commands/formula-undo.ts'),
  },
  'formula log': {
    description:
      'Show the formulas that platform-sync set for a calculation, newest last. The platform itself has no history.',
    arguments: [['<id>', 'the id of the calculation', calculationId]],
    options: [['--at <time>', 'print only the formula that was set at this time, for `formula set`']],
    examples: ['formula log 1008', 'formula log 1008 --at 20261122T184413239Z'],
    load: () => import('../commands/formula-log.ts'),
  },
} as const satisfies CommandFamily;

import {
  isRunId,
  parsePlace,
  placeName,
  type Source,
  sourceDefinitions,
  sources,
} from '../../snapshot/sources/index.ts';
import type { CommandFamily } from '../command.ts';
import {
  ageOption,
  DEFAULT_LISTED,
  listLimit,
  numberOption,
  parserOf,
  repeatable,
  sinceOption,
  YES,
} from '../options/options.ts';
import { requestOptions } from '../options/request-options.ts';

const NO_TABLES = [
  '--no-tables',
  'do not build the SQL tables now: the first query, or `tables`, builds them',
] as const;
const FORCE = ['--force', 'publish the run even if a gate refuses it; the manifest records which'] as const;

/** Parses a run's name, such as `20261121T091500Z-3fa9c1`. */
const runArgument = parserOf('a run such as 20261121T091500Z-3fa9c1', (text) =>
  isRunId(text) ? text : undefined,
);

/** Parses the argument `SOURCE` or `SOURCE.NAME`. */
const placeArgument = parserOf(`one of ${sources.join(', ')}, or SOURCE.NAME`, parsePlace, sources);

/** Parses a run's name, or `last`. */
const runOrLast = (text: string): string => (text === 'last' ? text : runArgument(text));

/** Parses the `NAME` of a place `SOURCE.NAME`. */
const placeNameOption = parserOf('1 to 64 letters, digits, _ or -', (text) => placeName.safeParse(text).data);

/** An optional argument for a place. `ifAbsent`: what its absence means, in words. */
const placeOf = (ifAbsent: string) =>
  ['[source]', `one of ${sources.join(', ')}, or SOURCE.NAME (default: ${ifAbsent})`, placeArgument] as const;

/** Commands that take, publish, list, compare and delete runs. */
export const snapshots = {
  snapshot: {
    description: `Copy records into the store and publish them: all that have been published before (\`all\`), or one source: ${sources.join(', ')}.`,
    needsStore: false,
    json: false,
    examples: ['snapshot all', 'snapshot calculations', 'snapshot calculations --resume last'],
  },
  'snapshot all': {
    description:
      'Repeat every snapshot that has been published, with the same selection. In an empty store: all calculations, then the cards of their datasets. The exit code is the worst of all runs; from worst to best: 2, 1, 3, 0.',
    needsStore: false,
    options: [NO_TABLES],
    examples: ['snapshot all', 'snapshot all --json'],
    load: () => import('../commands/snapshot-all.ts'),
  },
  ...snapshotCommands(),
  publish: {
    description: 'Check a finished, refused run again, and publish it if all gates pass now.',
    arguments: [
      ['<source>', 'the source of the run, or SOURCE.NAME', placeArgument],
      ['<run>', 'the run, such as 20261121T091500Z-3fa9c1', runArgument],
    ],
    options: [FORCE, NO_TABLES],
    examples: ['publish calculations 20261121T091500Z-3fa9c1 --force'],
    load: () => import('../commands/publish.ts'),
  },
  runs: {
    description: 'List the published runs, newest first.',
    arguments: [placeOf('every source; with --all also every SOURCE.NAME')],
    options: [
      ['--all', 'also list unfinished, refused and superseded runs'],
      ['--limit <n>', 'the maximum number of runs to list for each source', numberOption(1, 10_000), 20],
    ],
    examples: ['runs', 'runs calculations --limit 5', 'runs --all'],
    load: () => import('../commands/runs.ts'),
  },
  diff: {
    description: 'Show what changed between two published runs.',
    arguments: [
      placeOf('every published source'),
      ['[old]', 'the earlier run (default: the one that NEW was compared with when it was published)'],
      ['[new]', 'the later run (default: the last published run)'],
    ],
    options: [
      sinceOption('compare with the last published run that began before this time'),
      listLimit('changes', DEFAULT_LISTED),
      [
        '--memory <mb>',
        'megabytes of memory to compare records whose order has changed',
        numberOption(1, 100_000),
        128,
      ],
    ],
    examples: ['diff calculations', 'diff calculations --since 7d', 'diff --json'],
    load: () => import('../commands/diff.ts'),
  },
  prune: {
    description:
      'Delete old runs: their records, Parquet, changes and partitions, and their files under work/. The newest published run of each place is kept. With --jobs: of old jobs, keep only the outcome in the ledger; stored results are kept.',
    arguments: [placeOf('every place')],
    options: [
      ['--keep <n>', 'keep this many of the newest published runs of each place', numberOption(1, 100_000)],
      [
        '--older-than <time>',
        'delete runs that began before this time (with --jobs: jobs that ended before it): an age such as 90d or 12w, counted back from the newest run or job, or a date',
        ageOption,
      ],
      ['--jobs', 'of old jobs, keep only the outcome in the ledger; needs --older-than'],
      ['--dry-run', 'only list what would be deleted'],
      YES,
    ],
    examples: [
      'prune calculations --keep 30 --dry-run',
      'prune --older-than 90d --yes',
      'prune --jobs --older-than 90d --dry-run',
    ],
    load: () => import('../commands/prune.ts'),
  },
  tables: {
    description: 'Build the SQL tables for published runs that do not have them yet.',
    arguments: [
      ['[place...]', `any of ${sources.join(', ')}, SOURCE.NAME (default: all)`, repeatable(placeArgument)],
    ],
    examples: ['tables', 'tables calculations cards'],
    load: () => import('../commands/tables.ts'),
  },
} as const satisfies CommandFamily;

function snapshotCommands(): { readonly [S in Source as `snapshot ${S}`]: ReturnType<typeof snapshotOf> } {
  const commands = sources.map((source) => [`snapshot ${source}`, snapshotOf(source)]);
  return Object.fromEntries(commands);
}

/** The command that copies a source. The commands of all sources differ only in the options that select records. */
function snapshotOf(source: Source) {
  const { takes, examples } = sourceDefinitions[source];
  return {
    description: takes,
    needsStore: false,
    extraOptions: () => requestOptions(source),
    options: [
      [
        '--as <name>',
        'publish a narrowed snapshot under SOURCE.NAME/ (default: a name made from the selection; required for calculations)',
        placeNameOption,
      ],
      ['--resume <run>', 'resume a run that was stopped; last: the newest such run', runOrLast],
      FORCE,
      NO_TABLES,
    ],
    examples: examples.map((options) => `snapshot ${source} ${options}`.trim()),
    load: () => import('../commands/snapshot.ts'),
  } as const;
}

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
  collected,
  LISTED,
  limitOf,
  numberOption,
  reader,
  sinceOf,
  YES,
} from '../options/options.ts';
import { requestOptions } from '../options/request-options.ts';

const NO_TABLES = [
  '--no-tables',
  'do not build the SQL tables now: the first query builds them, or the command tables',
] as const;
const FORCE = ['--force', 'publish even if a gate refuses the run; the manifest records it'] as const;

/** A run's name, such as `20261121T091500Z-3fa9c1`, as an argument or an option. */
const runArgument = reader('a run such as 20261121T091500Z-3fa9c1', (text) =>
  isRunId(text) ? text : undefined,
);

/** `SOURCE` or `SOURCE.NAME` as an argument. */
const placeArgument = reader(`one of ${sources.join(', ')}, or SOURCE.NAME`, parsePlace, sources);

/** A run's name, or `last`. */
const runOrLast = (text: string): string => (text === 'last' ? text : runArgument(text));

/** The `NAME` of a place `SOURCE.NAME`. */
const placeNameOption = reader('1 to 64 letters, digits, _ or -', (text) => placeName.safeParse(text).data);

/** An optional argument that names a place. `all`: its meaning if it is absent. */
const placeOf = (all: string) =>
  ['[source]', `one of ${sources.join(', ')}, or SOURCE.NAME (default: ${all})`, placeArgument] as const;

/** Taking runs, publishing them, and everything about runs that are stored. */
export const snapshots = {
  snapshot: {
    description: `Copy records into the store and publish them: all places again, or one of ${sources.join(', ')}.`,
    needsStore: false,
    json: false,
    examples: ['snapshot all', 'snapshot calculations', 'snapshot calculations --resume last'],
  },
  'snapshot all': {
    description:
      'Take a new snapshot of every place that has a published run, with the same selection; in an empty store, of all calculations and then of the cards of their datasets. The exit code is the worst of all runs, in this order: 2, 1, 3, 0.',
    needsStore: false,
    options: [NO_TABLES],
    examples: ['snapshot all', 'snapshot all --json'],
    load: () => import('../commands/snapshot-all.ts'),
  },
  ...snapshotOfEach(),
  publish: {
    description: 'Publish a finished run that was refused.',
    arguments: [
      ['<source>', 'the source of the run, or SOURCE.NAME for a place of its own', placeArgument],
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
      ['[old]', 'the earlier run (default: the one with which NEW was compared when it was published)'],
      ['[new]', 'the later run (default: the last published one)'],
    ],
    options: [
      sinceOf('compare with the run that was the last one at this time'),
      limitOf(LISTED),
      ['--memory <mb>', 'megabytes for comparing records out of order', numberOption(1, 100_000), 128],
    ],
    examples: ['diff calculations', 'diff calculations --since 7d', 'diff --json'],
    load: () => import('../commands/diff.ts'),
  },
  prune: {
    description:
      'Delete old runs: their records, Parquet, changes and partitions, and what is left under work/. The newest published run of each place stays. Or, with --jobs, delete all but the outcomes of old jobs from the ledger; their results stay.',
    arguments: [placeOf('every place')],
    options: [
      ['--keep <n>', 'keep this many of the newest published runs of each place', numberOption(1, 100_000)],
      [
        '--older-than <time>',
        'delete runs that began (jobs that ended) before then: 90d or 12w before the newest one, or a date',
        ageOption,
      ],
      ['--jobs', 'remove all but the outcomes of old jobs from the ledger; needs --older-than'],
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
      ['[place...]', `any of ${sources.join(', ')}, SOURCE.NAME (default: all)`, collected(placeArgument)],
    ],
    examples: ['tables', 'tables calculations cards'],
    load: () => import('../commands/tables.ts'),
  },
} as const satisfies CommandFamily;

function snapshotOfEach(): { readonly [S in Source as `snapshot ${S}`]: ReturnType<typeof snapshotOf> } {
  const commands = sources.map((source) => [`snapshot ${source}`, snapshotOf(source)]);
  return Object.fromEntries(commands);
}

/** The commands of all sources differ only in the options that select records. */
function snapshotOf(source: Source) {
  const { takes, examples } = sourceDefinitions[source];
  return {
    description: takes,
    needsStore: false,
    extraOptions: () => requestOptions(source),
    options: [
      [
        '--as <name>',
        'publish a narrowed snapshot under SOURCE.NAME/ (default: a name made from the selection; calculations need one)',
        placeNameOption,
      ],
      ['--resume <run>', 'resume a run that was stopped; last: the newest one', runOrLast],
      FORCE,
      NO_TABLES,
    ],
    examples: examples.map((options) => `snapshot ${source} ${options}`.trim()),
    load: () => import('../commands/snapshot.ts'),
  } as const;
}

import { findableKinds } from '../../report/index.ts';
import type { CommandFamily } from '../command.ts';
import {
  AT,
  CSV_STYLE,
  choiceOption,
  DEFAULT_DEPENDENTS,
  DEFAULT_LINK_HOURS,
  DEFAULT_LISTED,
  decimalOption,
  listLimit,
  numberOption,
  sinceOption,
} from '../options/options.ts';

const KINDS = findableKinds;
const DATASET = 'cd27b9a0-a9d4-446b-9b16-02103df7f112';
/** A link to S3 works for at most seven days. */
const MAX_LINK_HOURS = 168;

/** Commands that read the store. None of them sends anything to the platform. */
export const questions = {
  query: {
    description:
      'Run SQL over published runs, changes, jobs and scores, with DuckDB. Without SQL: open a prompt.',
    arguments: [['[sql]', 'one SELECT, or - for standard input']],
    options: [
      ['--saved [name]', 'run a saved query; without a name: list them'],
      [
        '--csv [file]',
        'print the rows as CSV, or write them to a file; a name that ends in .gz compresses it',
      ],
      ...CSV_STYLE,
      ['--parquet <file>', 'write the rows to a Parquet file'],
      AT,
      ['--seconds <n>', 'stop the query after this many seconds', numberOption(1, 1e6)],
      ['--memory <mb>', 'megabytes of memory for DuckDB', numberOption(100, 1e6), 1_000],
      ['--disk <gb>', 'gigabytes for temporary files', decimalOption(0.1, 1e5), 20],
    ],
    examples: [
      'query "SELECT status, count(*) FROM calculations GROUP BY status"',
      'query --saved cleanup-by-owner --csv cleanup.csv',
      'query --saved unused-calculations --at 2026-11-21',
      'query --saved',
    ],
    load: () => import('../commands/query.ts'),
  },
  check: {
    description:
      'Check the data against your own rules: each *.sql in a folder is a rule, and the rows that it returns are violations. Its first comment gives its title and severity: error or warn.',
    arguments: [['[folder]', 'the folder of the rules (default: rules)']],
    options: [
      ['--junit <file>', 'also write the results as JUnit XML, for CI'],
      listLimit('violations', DEFAULT_LISTED),
      ['--seconds <n>', 'stop a rule after this many seconds', numberOption(1, 1e6), 600],
      ['--memory <mb>', 'megabytes of memory for DuckDB', numberOption(100, 1e6), 1_000],
    ],
    examples: ['check', 'check governance --junit rules.xml', 'check --json'],
    load: () => import('../commands/check.ts'),
  },
  'where-used': {
    description:
      'Show everything that depends on a dataset, calculation, card, file or column, directly or indirectly.',
    arguments: [['<id>', 'the id; for a file or directory, its path or its id; for a column, its name']],
    options: [
      ['--kind <kind>', `what the id belongs to: one of ${KINDS.join(', ')}`, choiceOption(KINDS)],
      ['--dataset <id>', 'only the column of this dataset'],
      [
        '--hops <n>',
        'follow at most n steps from one thing to the next (default: no limit)',
        numberOption(1, 1_000_000),
      ],
      AT,
      listLimit('dependents', DEFAULT_DEPENDENTS),
    ],
    examples: [
      `where-used ${DATASET}`,
      'where-used 1008 --kind calculation --hops 2',
      `where-used sales --dataset ${DATASET}`,
      `where-used ${DATASET} --json --limit 10000`,
      'where-used /reports/2026 --kind file',
    ],
    load: () => import('../commands/where-used.ts'),
  },
  report: {
    description: 'Write one HTML page about the last published runs, what changed, batches and jobs.',
    options: [
      AT,
      ['--open', 'open the page with the default program for HTML'],
      ['--output <file>', 'where to write it, or - for standard output (default: report.html)'],
      ['--link', 'print a link to the report in the store, which works without credentials'],
      [
        '--hours <n>',
        `how long the link works (default: ${DEFAULT_LINK_HOURS}; at most ${MAX_LINK_HOURS})`,
        numberOption(1, MAX_LINK_HOURS),
      ],
    ],
    examples: [
      'report --open',
      'report --output weekly.html',
      'report --at 2026-11-21',
      'report --json',
      'report --link --hours 168',
    ],
    load: () => import('../commands/report.ts'),
  },
  lineage: {
    description:
      'Write what uses what, with owners, for a data catalog: OpenLineage events, or a DataHub metadata file.',
    options: [
      [
        '--format <openlineage|datahub>',
        'the format (default: openlineage)',
        choiceOption(['openlineage', 'datahub']),
      ],
      [
        '--output <file>',
        'where to write it (default: standard output); a name that ends in .gz compresses it',
      ],
    ],
    json: false,
    examples: [
      'lineage',
      'lineage --output lineage.ndjson.gz',
      'lineage --format datahub --output lineage.json',
    ],
    load: () => import('../commands/lineage.ts'),
  },
  digest: {
    description:
      'Summarize what changed, what broke and who owns it, and which jobs failed: in the terminal, or in a Slack or Teams channel.',
    options: [
      sinceOption('summarize what happened since this time (default: 1d)'),
      ['--to <slack|teams>', 'post it to the webhook in SYNC_DIGEST_URL', choiceOption(['slack', 'teams'])],
    ],
    examples: ['digest', 'digest --since 7d --json', 'digest --since 1d --to slack'],
    load: () => import('../commands/digest.ts'),
  },
  mcp: {
    description:
      'Serve the last snapshots, job results and scores to an AI assistant: a Model Context Protocol server on standard input and output.',
    options: [
      [
        '--allow-submit',
        'also offer tools that queue jobs; each requires a dry run and a confirmation first',
      ],
    ],
    json: false,
    examples: ['mcp', 'mcp --profile acme', 'mcp --allow-submit'],
    load: () => import('../commands/mcp.ts'),
  },
} as const satisfies CommandFamily;

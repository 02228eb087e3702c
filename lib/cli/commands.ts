import type { Command } from 'commander';
import { jobStates } from '../jobs/ledger/job-row.ts';
import { jobTypes } from '../jobs/types/job-types.ts';
import { spelled } from '../model/rules/index.ts';
import { type FindableKind, findableKinds } from '../report/index.ts';
import { type Source, sourceDefinitions, sources } from '../snapshot/sources/sources.ts';
import { OUTPUT_ENDINGS } from '../text/index.ts';
import type { CommandDefinition, Flags, Given, Taken } from './command.ts';
import {
  ageOption,
  batchOption,
  calculationId,
  choiceOption,
  collected,
  columnsOption,
  decimalOption,
  filledOption,
  jobArgument,
  LISTED,
  LISTED_DEPENDENTS,
  LISTED_JSON,
  limitOption,
  momentOption,
  numberOption,
  placeArgument,
  placeNameOption,
  placeOf,
  runArgument,
  runOrLast,
  setName,
  textHash,
  topicOption,
} from './options/options.ts';
import { requestOptions } from './options/request-options.ts';
import type { Ended, Found, Terminal } from './terminal/terminal.ts';

const NO_TABLES = [
  '--no-tables',
  'leave the tables of SQL to the first query, or to the command tables',
] as const;
const YES = ['--yes', 'do not ask first; needed where nobody is at a terminal'] as const;
/** What a job may be in, as it is spelled at every door. */
const STATUSES = jobStates.map(spelled);
const CONCURRENCY = [
  '--concurrency <n>',
  'the most jobs to run at once (default: PLATFORM_CONCURRENCY)',
  numberOption(1, 1_000),
] as const;
const ENCODING = [
  '--encoding <label>',
  'the encoding of the file, such as utf-8, windows-1252, macintosh or cp850 (default: detected)',
] as const;
const SEPARATOR = [
  '--separator <character>',
  'the separator of the CSV (default: detected from its header)',
] as const;
const WHOLE_ROWS = [
  '--whole-rows',
  'take each line of the CSV for a row, also where two short ones may be the halves of one',
] as const;
const FROM_CSV = [
  ['--from-csv <file>', 'make a job of each row of this CSV, by --template'],
  ['--template <file>', 'a job as JSON, in which {{column}} stands for a cell; - for standard input'],
  [
    '--name <name>',
    'a set of its own: its ids begin with NAME, so that equal rows of another set run again (default: a job is known by its id, or by its content)',
    setName,
  ],
  ENCODING,
  SEPARATOR,
  WHOLE_ROWS,
] as const;
const CSV_WISHES = [
  ['--csv-for <program>', 'excel: a CSV in UTF-8 with a byte order mark', choiceOption(['excel'])],
  ['--csv-safe', 'put an apostrophe before the cells of a CSV that a spreadsheet would run: = + - @'],
] as const;
const NO_UNDO = [
  '--no-undo',
  'replace formulas of which nothing stored says what they are: they cannot be taken back',
] as const;
const STRICT = ['--strict', 'refuse what has a warning here, or the platform cannot parse'] as const;
const since = (means: string) =>
  ['--since <time>', `${means}: so long ago (12h, 7d, 4w), or a date`, momentOption()] as const;
const limit = (listed: number) =>
  [
    '--limit <n>',
    `the most to list (default: ${listed}; with --json: ${LISTED_JSON})`,
    numberOption(0, 1e6),
  ] as const;
const KINDS = Object.keys(findableKinds) as readonly FindableKind[];
const FILESET = '5ab50524-9b3d-4a75-b88a-f20ea274b5d8';
const DATASET = 'cd27b9a0-a9d4-446b-9b16-02103df7f112';
const PACKAGE = '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403';

/** The longest that S3 lets a link work: seven days. */
const MAX_LINK_HOURS = 168;
export const LINK_HOURS = 24;

/** All commands by their words, in the order of help. Help, completion, checks and `docs/commands.md` are made of it. */
export const commands = {
  init: {
    does: 'Ask for the address, the token and the store, try them, and write them to a file of settings.',
    needsStore: false,
    options: [['--sandbox', 'ask nothing: write the settings of the platform that `sandbox` starts']],
    json: false,
    examples: ['init', 'init --sandbox'],
  },
  doctor: {
    does: 'Check settings, host, token, clock, bucket, queue, table, catalog and rights, in this order, and say what to do.',
    needsStore: false,
    examples: ['doctor', 'doctor --profile acme', 'doctor --json'],
  },
  snapshot: {
    does: `Copy records into the store, and publish them: all places once more, or one of ${sources.join(', ')}.`,
    needsStore: false,
    json: false,
    examples: ['snapshot all', 'snapshot calculations', 'snapshot calculations --resume last'],
  },
  'snapshot all': {
    does: 'Take each place that has a published run once more, as it was selected then; in an empty store all calculations, then the cards of their datasets. Ends with the worst of their exit codes: 2, 1, 3, 0.',
    needsStore: false,
    options: [NO_TABLES],
    examples: ['snapshot all', 'snapshot all --json'],
  },
  'snapshot calculations': snapshotOf('calculations', [
    'snapshot calculations',
    'snapshot calculations --name Revenue --as revenue',
    'snapshot calculations --resume last',
  ]),
  'snapshot files': snapshotOf('files', [
    `snapshot files --fileset ${FILESET}`,
    `snapshot files --fileset ${FILESET} --directory /reports --since 2026-11-01 --as reports`,
  ]),
  'snapshot cards': snapshotOf('cards', ['snapshot cards', `snapshot cards --dataset ${DATASET} --no-drill`]),
  'snapshot data-files': snapshotOf('data-files', [
    'snapshot data-files --id 40009 --id 40030',
    'snapshot data-files --ids-from ids.txt',
  ]),
  publish: {
    does: 'Publish a finished run that was refused.',
    arguments: [
      ['<source>', 'the source of the run, or SOURCE.NAME if it has a place of its own', placeArgument],
      ['<run>', 'the run, such as 20261121T091500Z-3fa9c1', runArgument],
    ],
    options: [['--force', 'publish even if a gate refuses; the manifest says so'], NO_TABLES],
    examples: ['publish calculations 20261121T091500Z-3fa9c1 --force'],
  },
  runs: {
    does: 'List the published runs, newest first.',
    arguments: [placeOf('every source; with --all also every SOURCE.NAME')],
    options: [
      ['--all', 'also list unfinished, refused and superseded runs'],
      ['--limit <n>', 'the most runs to list for each source', numberOption(1, 10_000), 20],
    ],
    examples: ['runs', 'runs calculations --limit 5', 'runs --all'],
  },
  diff: {
    does: 'Show what changed between two published runs.',
    arguments: [
      placeOf('every published source'),
      ['[old]', 'the earlier run (default: the one that NEW was compared with when it was published)'],
      ['[new]', 'the later run (default: the last published one)'],
    ],
    options: [
      since('compare with the run that was the last one then'),
      limit(LISTED),
      ['--memory <mb>', 'megabytes for comparing records out of order', numberOption(1, 100_000), 128],
    ],
    examples: ['diff calculations', 'diff calculations --since 7d', 'diff --json'],
  },
  'where-used': {
    does: 'Show what depends on a dataset, calculation, card, file or column: what would break without it.',
    arguments: [['<id>', 'an id; of a file or directory, its path or its id; of a column, its name']],
    options: [
      ['--kind <kind>', `only a thing of this kind: one of ${KINDS.join(', ')}`, choiceOption(KINDS)],
      ['--dataset <id>', 'only a column of this dataset'],
      ['--hops <n>', 'how many uses away, at most (default: any number)', numberOption(1, 1_000_000)],
      limit(LISTED_DEPENDENTS),
    ],
    examples: [
      `where-used ${DATASET}`,
      'where-used 1008 --kind calculation --hops 2',
      `where-used sales --dataset ${DATASET}`,
      `where-used ${DATASET} --json --limit 10000`,
      'where-used /reports/2026 --kind file',
    ],
  },
  prune: {
    does: 'Remove old runs: their records, Parquet, changes and partitions, and what is under work/. The newest published run of each place stays. Or, with --jobs, what the ledger holds of old jobs, whose results stay.',
    arguments: [placeOf('every place')],
    options: [
      ['--keep <n>', 'keep the newest published runs of each place', numberOption(1, 100_000)],
      [
        '--older-than <time>',
        'remove runs that began before (jobs that ended before): 90d or 12w before the newest that is stored, or a date',
        ageOption,
      ],
      ['--jobs', 'leave of jobs in the ledger only how they ended; needs --older-than'],
      ['--dry-run', 'only list what would be removed'],
      YES,
    ],
    examples: [
      'prune calculations --keep 30 --dry-run',
      'prune --older-than 90d --yes',
      'prune --jobs --older-than 90d --dry-run',
    ],
  },
  query: {
    does: 'Run SQL over published runs, changes, jobs and scores, with DuckDB. Without SQL: a prompt.',
    arguments: [['[sql]', 'one SELECT, or - for standard input']],
    options: [
      ['--saved [name]', 'run a saved query; without a name: list them'],
      ['--csv [file]', 'print the rows as CSV, or write them to a file; .gz at its end compresses it'],
      ...CSV_WISHES,
      ['--parquet <file>', 'write the rows to a file of Parquet'],
      ['--seconds <n>', 'stop the query after so long', numberOption(1, 1e6)],
      ['--memory <mb>', 'megabytes of memory for DuckDB', numberOption(100, 1e6), 1_000],
      ['--disk <gb>', 'gigabytes for temporary files', decimalOption(0.1, 1e5), 20],
    ],
    examples: [
      'query "SELECT status, count(*) FROM calculations GROUP BY status"',
      'query --saved cleanup-by-owner --csv cleanup.csv',
      'query --saved',
    ],
  },
  report: {
    does: 'Write one HTML page over the last published runs, what changed, batches and jobs.',
    options: [
      ['--open', 'open the page with what this machine opens HTML with'],
      ['--output <file>', 'where to write it, or - for standard output (default: report.html)'],
      ['--link', 'print a link to the report in the store, for people without credentials'],
      [
        '--hours <n>',
        `how long the link works (default: ${LINK_HOURS}; at most ${MAX_LINK_HOURS})`,
        numberOption(1, MAX_LINK_HOURS),
      ],
    ],
    examples: ['report --open', 'report --output weekly.html', 'report --json', 'report --link --hours 168'],
  },
  digest: {
    does: 'Say what changed, what broke and whose it is, and which jobs failed, here or to a channel of Slack or Teams.',
    options: [
      since('since when (default: 1d)'),
      ['--to <slack|teams>', 'post it to the webhook in SYNC_DIGEST_URL', choiceOption(['slack', 'teams'])],
    ],
    examples: ['digest', 'digest --since 7d --json', 'digest --since 1d --to slack'],
  },
  score: {
    does: 'Score the sentiment of every text in a CSV, NDJSON or JSON file; each text is paid for once.',
    needsStore: false,
    arguments: [['<file>', 'the file of texts; may be gzipped']],
    required: [['--text <column>', 'the column that holds the text', filledOption]],
    options: [
      ['--id <column>', 'the column that holds the row’s id (default: its line number)'],
      ['--topic <name[=description]>', 'a topic to score; may be repeated', collected(topicOption)],
      ['--instructions <text>', 'additional instructions for the model'],
      ['--model <model>', 'the model (default: the platform’s own)'],
      ['--columns <a,b>', 'columns to copy into the scores', columnsOption],
      ['--max-calls <n>', 'send nothing if more calls than this are needed', numberOption(0, 1_000_000_000)],
      ['--dry-run', 'report what it would take, but send nothing'],
      ['--batch <name>', 'its name; the same name again resumes a batch that was stopped', batchOption],
      ENCODING,
      SEPARATOR,
      WHOLE_ROWS,
      ['--skip-empty', 'leave out rows without a text, which are bad rows otherwise'],
      ['--output <file>', `write all rows with their scores: ${OUTPUT_ENDINGS}`],
      ...CSV_WISHES,
    ],
    examples: [
      'score reviews.csv --text comment --id user --topic delivery --topic "support=the help desk" --dry-run',
      'score reviews.csv --text comment --id user --topic delivery --batch may --max-calls 1000',
      'score reviews.csv --text comment --id user --topic delivery --output scored.csv',
    ],
  },
  batches: {
    does: 'List the batches of texts, with their status, failures and the time left; or show one.',
    arguments: [['[batch]', 'the batch to show, with the first rows that failed', batchOption]],
    examples: ['batches', 'batches may'],
  },
  call: {
    does: 'Run one code function. The call is sent only once, whatever happens.',
    arguments: [
      ['<package>', 'the id of the package, a UUID'],
      ['<version>', 'a released version of the package'],
      ['<function>', 'the name of the function'],
    ],
    options: [
      ['--input <json>', 'the input variables: a JSON object, @FILE for one in a file, - for standard input'],
      ['--logs', 'show what the function logged'],
    ],
    examples: [
      `call ${PACKAGE} 1.0.0 addNumbers --input '{"first": 40, "second": 2}'`,
      `call ${PACKAGE} 1.0.0 addNumbers --input @input.json --logs`,
    ],
  },
  formula: {
    does: 'Check a formula here, set one on the platform, or show what was set before.',
    needsStore: false,
    json: false,
    examples: ['formula check formula.txt', 'formula set 1008 formula.txt --dry-run', 'formula log 1008'],
  },
  'formula check': {
    does: 'Parse a formula here and report what the platform would say about it, and warn of what it may refuse.',
    needsStore: false,
    arguments: [['<file>', 'the file that holds the formula; - for standard input']],
    examples: ['formula check formula.txt', 'formula check - --json'],
  },
  'formula set': {
    does: 'Set the formula of a calculation. The update is sent only once, whatever happens.',
    needsStore: false,
    arguments: [
      ['<id>', 'the id of the calculation', calculationId],
      ['<file>', 'the file that holds the formula; - for standard input'],
    ],
    options: [
      STRICT,
      ['--dry-run', 'look the calculation up and show what would change, but change nothing'],
      [
        '--force',
        'send a formula that is refused here, or replaces one of which nothing stored says what it is',
      ],
      [
        '--unless-changed-since <ms>',
        'stop if it was changed after this time, in epoch milliseconds; needs --name',
        numberOption(0, Number.MAX_SAFE_INTEGER),
      ],
      ['--name <name>', 'the name of the calculation, which the search finds it by'],
    ],
    examples: [
      'formula set 1008 formula.txt --dry-run',
      'formula set 1008 formula.txt --unless-changed-since 1763712000000 --name Revenue',
    ],
  },
  'formula apply': {
    does: 'Set the formulas of a CSV with the columns id, expression and, if you like, name and was. Each is sent only once; the same command again continues.',
    needsStore: false,
    arguments: [['<changes>', 'the CSV']],
    required: [['--name <name>', 'what the set is called, so that it can be taken back', setName]],
    options: [
      STRICT,
      ENCODING,
      SEPARATOR,
      WHOLE_ROWS,
      ['--dry-run', 'check the formulas and show what depends on them, but send nothing'],
      ['--markdown', 'with --dry-run: print a table for a pull request'],
      ['--max-affected <n>', 'send nothing if more things depend on them', numberOption(0, 1e9)],
      [
        '--no-undo-for <id...>',
        'set these although nothing stored says what they are, or not what `was` says: they cannot be taken back',
        (text: string, before?: readonly string[] | true) =>
          collected(calculationId)(text, before === true ? [] : before),
        [] as readonly string[],
      ],
      ['--submit', 'put the updates on the queue instead of running them here'],
    ],
    examples: [
      'formula apply changes.csv --name may --dry-run --markdown',
      'formula apply changes.csv --name may --max-affected 50',
    ],
  },
  'formula undo': {
    does: 'Set the formulas of a set back to what they were, except those that somebody has changed since.',
    arguments: [['<name>', 'what the set is called', setName]],
    options: [
      ['--even-if-changed <id...>', 'set these back although they have changed', collected(calculationId)],
    ],
    examples: ['formula undo may', 'formula undo may --even-if-changed 1008'],
  },
  'formula log': {
    does: 'Show a calculation as it was after each of our updates, newest last.',
    arguments: [['<id>', 'the id of the calculation', calculationId]],
    options: [['--at <time>', 'print only the expression stored at this time, ready to be set again']],
    examples: ['formula log 1008', 'formula log 1008 --at 20261122T184413239Z'],
  },
  run: {
    does: 'Run the jobs of a file in this process, each to its one outcome; every row is checked before any is run, and the same command again runs what is left.',
    needsStore: false,
    arguments: [['[file]', 'the jobs as JSON, one per line; may be gzipped']],
    options: [
      ...FROM_CSV,
      ['--output <file>', `write a row for each job: ${OUTPUT_ENDINGS}`],
      ...CSV_WISHES,
      CONCURRENCY,
      NO_UNDO,
      ['--dry-run', 'check everything, formulas too, but run nothing'],
    ],
    examples: [
      'run jobs.ndjson --output results.ndjson',
      'run --from-csv days.csv --template job.json --output days-done.csv',
    ],
  },
  submit: {
    does: 'Put jobs on the queue; every line is checked before any is sent.',
    needsStore: false,
    arguments: [['[file]', 'the jobs as JSON, one per line; - for standard input']],
    options: [...FROM_CSV, NO_UNDO, ['--dry-run', 'check everything, formulas too, but send nothing']],
    examples: [
      'submit jobs.ndjson --dry-run',
      'submit -',
      'submit --from-csv days.csv --template job.json --dry-run',
    ],
  },
  work: {
    does: 'Run the jobs on the queue in this process; Ctrl-C waits for requests that have left, and puts the other jobs back.',
    options: [
      ['--drain', 'stop when the queue is empty'],
      [
        '--concurrency <n>',
        'the most jobs to run at once, and as many of texts and ids beside them (default: PLATFORM_CONCURRENCY)',
        numberOption(1, 1_000),
      ],
    ],
    examples: ['work', 'work --drain --concurrency 4'],
  },
  jobs: {
    does: 'List the jobs in the ledger, newest first, and count those on the queue; or show the result of one.',
    arguments: [['[id]', 'the job to show: its result, or else its row in the ledger', jobArgument]],
    options: [
      ['--limit <n>', 'the most jobs to list', numberOption(1, 10_000), 20],
      [
        '--status <status>',
        `only jobs of this status: one of ${STATUSES.join(', ')}`,
        choiceOption(STATUSES),
      ],
    ],
    examples: [
      'jobs --status unknown',
      'jobs nightly-1',
      'jobs resolve nightly-1 done --note "seen on the platform"',
    ],
  },
  'jobs results': {
    does: 'Write the results of jobs to one file: NDJSON, each as it is stored, or CSV.',
    required: [['--output <file>', `the file: ${OUTPUT_ENDINGS}`]],
    options: [
      ['--type <type>', `only one type of job: ${jobTypes.join(', ')}`, choiceOption(jobTypes)],
      since('only jobs that ended since then'),
      ...CSV_WISHES,
    ],
    examples: [
      'jobs results --output results.csv',
      'jobs results --type run-function --since 7d --output results.ndjson',
    ],
  },
  'jobs cancel': {
    does: 'Cancel jobs that have not been sent, even if their messages have not been seen yet. A job of texts or of ids stops between two calls, within seconds.',
    arguments: [['[id...]', 'the ids of the jobs', collected(jobArgument)]],
    options: [['--batch <name>', 'cancel all chunks of this batch that have not ended', batchOption]],
    examples: ['jobs cancel nightly-1 nightly-2', 'jobs cancel --batch may'],
  },
  'jobs resolve': {
    does: 'Settle a job whose outcome is unknown, after you have looked on the platform.',
    arguments: [
      ['<id>', 'the id of the job', jobArgument],
      ['<status>', 'done: it was executed; failed: it was not, and may be reopened', ['done', 'failed']],
    ],
    required: [['--note <text>', 'how you know: it is stored in the result', filledOption]],
    examples: ['jobs resolve nightly-1 failed --note "it is not in the list of executions"'],
  },
  redrive: {
    does: 'Reopen failed jobs, never unknown ones, and those that were cancelled or executed only by id; without ids, also move dead letters back to the queue.',
    arguments: [['[id...]', 'the ids of the jobs (default: all failed jobs)', collected(jobArgument)]],
    options: [
      ['--batch <name>', 'score its rows that failed, cancelled ones too', batchOption],
      ['--executed', 'also those that the platform executed, which are listed first'],
      YES,
    ],
    examples: ['redrive', 'redrive nightly-1', 'redrive --batch may', 'redrive --executed --yes'],
  },
  tables: {
    does: 'Make the tables that published runs lack.',
    arguments: [
      ['[place...]', `any of ${sources.join(', ')}, SOURCE.NAME (default: all)`, collected(placeArgument)],
    ],
    examples: ['tables', 'tables calculations cards'],
  },
  forget: {
    does: 'Erase one text, or a whole batch: texts, scores and cache rows.',
    options: [
      ['--text-hash <hash>', 'the SHA-256 of the text in hex, as recorded in the parts', textHash],
      ['--batch <name>', 'the batch, with all its texts', batchOption],
      ['--dry-run', 'only count what would be erased'],
      YES,
    ],
    examples: [
      'forget --batch may --dry-run',
      'forget --batch may',
      'forget --yes --text-hash 0d57f29f8eef9365dbfd4e45528098967ed655efa0ce95494945350bfafbabb0',
    ],
  },
  mcp: {
    does: 'Serve the last snapshots, job results and scores to an assistant: a Model Context Protocol server on standard input and output.',
    options: [['--allow-submit', 'also serve tools that queue jobs, after a dry run and a confirmation']],
    json: false,
    examples: ['mcp', 'mcp --profile acme', 'mcp --allow-submit'],
  },
  pace: {
    does: 'Show the budget that all senders share and how much of it they have used; pause or resume them, forget throttling, or cap their rate.',
    options: [
      ['--pause', 'stop every sender, within a second or so, until --resume'],
      ['--resume', 'let every sender send again'],
      ['--reset', 'forget throttling: the full rate, from a second on'],
      [
        '--rate <n>',
        'requests a second of all senders, or PLATFORM_RATE if lower',
        decimalOption(0.001, 1e4),
      ],
    ],
    examples: ['pace', 'pace --pause', 'pace --rate 1'],
  },
  sandbox: {
    does: 'Start the reference platform on loopback, and print the settings that reach it.',
    needsStore: false,
    options: [
      ['--seed <n>', 'the seed of its records (default: 1)', numberOption(0, 4_294_967_295)],
      ['--calculations <n>', 'how many calculations it has (default: 20000)', numberOption(0, 10_000_000)],
      ['--latency <ms>', 'milliseconds to delay every response by (default: 0)', numberOption(0, 600_000)],
      [
        '--rate <n>',
        'requests a second before it responds with 429 (default: all)',
        decimalOption(0.01, 1e5),
      ],
      [
        '--limit <[operation=]n/unit>',
        'a limit with 429: 6/s in any second, 100/min or 5000/h in each one of the clock, score=0/s for one operation; may be repeated',
        collected(limitOption),
      ],
      ['--faults <p>', 'the share of requests that fail, from 0 to 1 (default: 0)', decimalOption(0, 1)],
      [
        '--odd <p>',
        'the share of answers and records that have odd but legal shapes, from 0 to 1 (default: 0)',
        decimalOption(0, 1),
      ],
      ['--churn <n>', 'records added, changed or deleted per second (default: 0)', decimalOption(0, 1e4)],
    ],
    examples: [
      'sandbox > sandbox.env',
      'sandbox --rate 5 --faults 0.02 --latency 100',
      'sandbox --limit 100/min --limit score=0/s',
      'sandbox --odd 0.3',
    ],
  },
  env: {
    does: 'Print the settings of a deployed instance, from the outputs of its stack, as lines for --env-file.',
    needsStore: false,
    options: [
      ['--stack <name>', 'the name of the stack', String],
      ['--construct <id>', 'which of several instances in a stack: what its outputs begin with'],
    ],
    examples: ['env --stack platform-sync-acme'],
  },
  completion: {
    does: 'Print a script with which a shell completes commands, options and sources.',
    needsStore: false,
    arguments: [['<shell>', 'the shell', ['bash', 'zsh', 'fish']]],
    json: false,
    examples: ['completion bash', 'completion zsh', 'completion fish'],
  },
} as const satisfies Readonly<Record<string, CommandDefinition>>;

export type CommandPath = keyof typeof commands;

type Part<Path extends CommandPath, Name extends string> = (typeof commands)[Path] extends {
  readonly [Each in Name]: infer Value extends readonly Taken[];
}
  ? Value
  : readonly [];

/** The options of a command by their names, as they are read. */
export type FlagsOf<Path extends CommandPath> = Flags<Part<Path, 'required'>, Part<Path, 'options'>> & {
  readonly json?: true;
};

/** What a command does, given its arguments and options as they are read. Returns what is to be printed, or only how it ended. */
export type Run<Path extends CommandPath> = (
  given: Given<Part<Path, 'arguments'>>,
  flags: FlagsOf<Path>,
  terminal: Terminal,
  command: Command,
) => Promise<Ended | Found> | Ended | Found;

/** The commands of all sources differ only in what selects their records. */
function snapshotOf(source: Source, examples: readonly string[]) {
  return {
    does: sourceDefinitions[source].takes,
    needsStore: false,
    more: () => requestOptions(source),
    options: [
      [
        '--as <name>',
        'the place of a narrowed snapshot, SOURCE.NAME/ (default: named after what narrows it; for calculations it is needed)',
        placeNameOption,
      ],
      ['--resume <run>', 'resume a run that was stopped; last: the one that started last', runOrLast],
      ['--force', 'publish even if a gate refuses; the manifest says so'],
      NO_TABLES,
    ],
    examples,
  } as const;
}

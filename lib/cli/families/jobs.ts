import { jobId, jobStates, jobTypes } from '../../jobs/types/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import { OUTPUT_ENDINGS } from '../../text/index.ts';
import type { CommandFamily } from '../command.ts';
import {
  batchOption,
  CSV_STYLE,
  choiceOption,
  ENCODING,
  filledOption,
  numberOption,
  parserOf,
  repeatable,
  SEPARATOR,
  setName,
  sinceOption,
  WHOLE_ROWS,
  YES,
} from '../options/options.ts';

const PACKAGE = '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403';
/** The statuses of a job, as users type them. */
const STATUSES = jobStates.map(lowerCase);
const CONCURRENCY = [
  '--concurrency <n>',
  'the maximum number of jobs to run at the same time (default: PLATFORM_CONCURRENCY)',
  numberOption(1, 1_000),
] as const;
const FROM_CSV = [
  ['--from-csv <file>', 'build a job from each row of this CSV; needs --template'],
  [
    '--template <file>',
    'a job as JSON, in which {{column}} is replaced by the value of that column; - for standard input',
  ],
  [
    '--name <name>',
    'a prefix for the ids of these jobs. A row that ran under the same name does not run again; under another name it does. Without --name, a row that ran from any earlier file without a name does not run again',
    setName,
  ],
  ENCODING,
  SEPARATOR,
  WHOLE_ROWS,
] as const;
const NO_UNDO = [
  '--no-undo',
  'replace formulas even if their current text is not stored: these updates cannot be undone',
] as const;

/** Parses the id of a job. */
const jobArgument = parserOf(
  '1 to 128 characters from A-Z a-z 0-9 . _ : -',
  (text) => jobId.safeParse(text).data,
);

/** Commands that run jobs on the platform: directly, from a file, or through the queue. */
export const jobs = {
  call: {
    description: 'Run one code function. The call is never sent twice.',
    arguments: [
      ['<package>', 'the id of the package, a UUID'],
      ['<version>', 'a released version of the package'],
      ['<function>', 'the name of the function'],
    ],
    options: [
      [
        '--input <json>',
        'the input variables: a JSON object, @FILE to read it from a file, or - for standard input',
      ],
      ['--logs', 'show what the function logged'],
    ],
    examples: [
      `call ${PACKAGE} 1.0.0 addNumbers --input '{"first": 40, "second": 2}'`,
      `call ${PACKAGE} 1.0.0 addNumbers --input @input.json --logs`,
    ],
    load: () => import('../commands/call.ts'),
  },
  run: {
    description:
      'Run the jobs of a file in this process, each to its final outcome. Every row is checked before any job runs. To run the remaining jobs after a stop, run the same command again.',
    needsStore: false,
    arguments: [['[file]', 'the jobs as JSON, one per line; may be gzipped']],
    options: [
      ...FROM_CSV,
      ['--output <file>', `write a row for each job: ${OUTPUT_ENDINGS}`],
      ...CSV_STYLE,
      CONCURRENCY,
      NO_UNDO,
      ['--dry-run', 'check everything, including formulas, but run nothing'],
    ],
    examples: [
      'run jobs.ndjson --output results.ndjson',
      'run --from-csv days.csv --template job.json --output days-done.csv',
    ],
    load: () => import('../commands/run.ts'),
  },
  submit: {
    description: 'Put jobs on the queue; every line is checked before any job is sent.',
    needsStore: false,
    arguments: [['[file]', 'the jobs as JSON, one per line; - for standard input']],
    options: [...FROM_CSV, NO_UNDO, ['--dry-run', 'check everything, including formulas, but send nothing']],
    examples: [
      'submit jobs.ndjson --dry-run',
      'submit -',
      'submit --from-csv days.csv --template job.json --dry-run',
    ],
    load: () => import('../commands/submit.ts'),
  },
  work: {
    description:
      'Run the jobs on the queue in this process; Ctrl-C waits for requests that were sent, and returns the other jobs to the queue.',
    options: [
      ['--drain', 'stop when the queue is empty'],
      [
        '--concurrency <n>',
        'the maximum number of short jobs to run at the same time; as many long jobs (score, data-files) may run in addition (default: PLATFORM_CONCURRENCY)',
        numberOption(1, 1_000),
      ],
    ],
    examples: ['work', 'work --drain --concurrency 4'],
    load: () => import('../commands/work.ts'),
  },
  jobs: {
    description:
      'List the jobs in the ledger, newest first, and count those on the queue; or show the result of one job.',
    arguments: [
      ['[id]', 'the job to show: its result, or its row in the ledger if it has no result yet', jobArgument],
    ],
    options: [
      ['--limit <n>', 'the maximum number of jobs to list', numberOption(1, 10_000), 20],
      [
        '--status <status>',
        `only jobs with this status: one of ${STATUSES.join(', ')}`,
        choiceOption(STATUSES),
      ],
    ],
    examples: [
      'jobs --status unknown',
      'jobs nightly-1',
      'jobs resolve nightly-1 done --note "seen on the platform"',
    ],
    load: () => import('../commands/jobs.ts'),
  },
  'jobs results': {
    description: 'Write the results of jobs to one file: NDJSON, exactly as stored, or CSV.',
    required: [['--output <file>', `the file: ${OUTPUT_ENDINGS}`]],
    options: [
      ['--type <type>', `only jobs of this type: ${jobTypes.join(', ')}`, choiceOption(jobTypes)],
      sinceOption('only jobs that ended since this time'),
      ...CSV_STYLE,
    ],
    examples: [
      'jobs results --output results.csv',
      'jobs results --type run-function --since 7d --output results.ndjson',
    ],
    load: () => import('../commands/jobs-results.ts'),
  },
  'jobs cancel': {
    description:
      'Cancel jobs that have not sent a request yet, whether still queued or already taken by a worker. A job with many texts or ids stops between two requests, within seconds.',
    arguments: [['[id...]', 'the ids of the jobs', repeatable(jobArgument)]],
    options: [['--batch <name>', 'cancel all chunks of this batch that have not ended', batchOption]],
    examples: ['jobs cancel nightly-1 nightly-2', 'jobs cancel --batch may'],
    load: () => import('../commands/jobs-cancel.ts'),
  },
  'jobs resolve': {
    description:
      'Settle a job whose outcome is unknown, after checking on the platform whether it was executed.',
    arguments: [
      ['<id>', 'the id of the job', jobArgument],
      [
        '<status>',
        'done: it was executed; failed: it was not, so redrive may run it again',
        ['done', 'failed'],
      ],
    ],
    required: [['--note <text>', 'how you know; stored in the result', filledOption]],
    examples: ['jobs resolve nightly-1 failed --note "it is not in the list of executions"'],
    load: () => import('../commands/jobs-resolve.ts'),
  },
  redrive: {
    description:
      'Return failed jobs to the queue. Without ids: dead letters, and all failed jobs that the platform did not execute. To return a cancelled job, give its id. To return jobs that failed although the platform executed them, give their ids or --executed. Jobs with an unknown outcome are never returned.',
    arguments: [['[id...]', 'the ids of the jobs (default: see above)', repeatable(jobArgument)]],
    options: [
      ['--batch <name>', 'score the failed rows of this batch again, including cancelled ones', batchOption],
      [
        '--executed',
        'also return failed jobs that the platform executed; lists them and asks for confirmation',
      ],
      YES,
    ],
    examples: ['redrive', 'redrive nightly-1', 'redrive --batch may', 'redrive --executed --yes'],
    load: () => import('../commands/redrive.ts'),
  },
} as const satisfies CommandFamily;

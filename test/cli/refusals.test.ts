import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { parseLine } from '../docs/shell.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';
import { adds, lines } from './start-jobs.ts';

const folder = folderOfEach();

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const RUN = '20261121T091500Z-3fa9c1';
const HASH = 'a'.repeat(64);
const NO_RUN = 'Expected a run such as 20261121T091500Z-3fa9c1, got';
const NO_DATE = 'expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got';
const NOT_BOTH = 'expected ids of jobs or --batch, got';
const NARROWED =
  '--as: expected a place of its own, since --name or --filter narrow the snapshot, got nothing';
const SELECTED =
  '--resume: expected nothing else that selects records, since the run already has its selection, got';
const NO_SOURCE = 'Expected one of calculations, files, cards, data-files, or SOURCE.NAME, got';
const SUM = {
  type: 'run-function',
  packageId: codePackages[0]?.id,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
  inputVariables: { first: '{{a:number}}', second: '{{b:number}}' },
};

type Given = {
  readonly input?: string;
  readonly files?: Readonly<Record<string, string | object>>;
  readonly settings?: Readonly<Record<string, string>>;
};

/** A command line, a line that says what is wrong with it, and what it was given. */
type Refusal = readonly [line: string, said: string, given?: Given];

const REVIEWS = { files: { 'reviews.csv': 'id,review,shop\n1,wonderful!,A\n' } };
const score = (flags: string, said: string): Refusal => [`score reviews.csv ${flags}`, said, REVIEWS];
const ofFile = (command: string, text: string, said: string): Refusal => [
  `${command} jobs.ndjson`,
  said,
  { files: { 'jobs.ndjson': text } },
];
/** The same of `run` and of `submit`. */
const ofTable = (csv: string, template: string | object, said: string): readonly Refusal[] =>
  ['run', 'submit --dry-run'].map((command) => [
    `${command} --from-csv sums.csv --template job.json`,
    said,
    { files: { 'sums.csv': csv, 'job.json': template } },
  ]);
const files = (flags: string, said: string): Refusal => [
  `snapshot files --fileset ${FILESET} ${flags}`,
  said,
];

const REFUSALS: readonly Refusal[] = [
  ['nonsense', "unknown command 'nonsense'"],
  ['snapshot kalkulations', "unknown command 'kalkulations'"],
  ['completion tcsh', 'bash, zsh, fish'],
  ['env', '--stack: expected the name of a stack, got nothing'],

  ['call only-one', "missing required argument 'version'"],
  [`call a b c --input '[1]'`, 'or - for standard input, got "[1]"'],
  ['call a b c --input -', '--input: expected a JSON object such as'],
  ['call a b c --input @no/such', 'no/such: expected a file that can be read'],
  ['call a .. c', 'version: expected a name that is not empty, "." or "..", got ".."'],
  ['call no-uuid 1.0.0 f', 'package: expected a UUID (8-4-4-4-12 hex digits), got "no-uuid"'],
  ['sandbox --rate fast', 'Expected a number from 0.01 to 100000, got "fast".'],
  ['sandbox --calculations 1.5', 'Expected a whole number from 0'],

  ['formula check no/such/file', 'no/such/file: expected a file that can be read, or - for standard input'],
  ['formula set twelve -', 'Expected the digits of an integer, got "twelve"'],
  ['formula set 12 -', 'standard input: expected text that is not empty, got ""'],
  [
    'formula set 12 - --name x',
    '--unless-changed-since: expected a value, since --name is given, got nothing',
  ],
  [
    'formula set 12 - --unless-changed-since 5',
    '--name: expected a value, since --unless-changed-since is given, got nothing',
  ],
  ['formula log abc', 'Expected the digits of an integer, got "abc"'],

  files('--where "size>1"', 'Expected FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000'),
  files('--where size:EQUALS', 'got "size:EQUALS".'),
  files('--where colour:EQUALS:red', '--where.0.field: expected a field of a file (id, path, name, '),
  files('--where filetype:EQUALS:TEXT', 'indexReason), such as fileType, got "filetype"'),
  files('--where size:GRATER_THAN:1', 'LESS_THAN_OR_EQUAL), such as GREATER_THAN, got "GRATER_THAN"'),
  files('--since yesterday', `--since: ${NO_DATE} "yesterday"`),
  files('--until 2026-02-30', `--until: ${NO_DATE} "2026-02-30"`),
  files('--since 1 --until 2', `--since: ${NO_DATE} "1"\n--until: expected a date`),
  files(
    '--since 2026-02-01 --until 2026-01-31',
    '--since: expected a time that is not after --until, got "2026-02-01"',
  ),
  files('--as ../x', '--as: expected 1 to 64 letters, digits, _ or -, got "../x"'),
  files("--as ''", '--as: expected 1 to 64 letters, digits, _ or -, got ""'),
  files('--immediate', '--directory: expected a directory, since --immediate is given, got nothing'),
  ['snapshot files', '--fileset: expected a list of FileSet ids, got nothing'],
  ['snapshot files --fileset nope', '--fileset.0: expected a UUID (8-4-4-4-12 hex digits), got "nope"'],
  [`snapshot files --as ../x --resume ${RUN}`, '--as: expected 1 to 64 letters, digits, _ or -'],
  ['snapshot calculations --name x', NARROWED],
  ['snapshot calculations --filter archived', NARROWED],
  ['snapshot calculations --resume last', '--resume last: expected a run of calculations in '],
  ['snapshot calculations --resume ../x', `${NO_RUN} "../x".`],
  [`snapshot calculations --resume ${RUN}`, ': expected a checkpoint, got none'],
  [`snapshot calculations --name x --as x --resume ${RUN}`, `${SELECTED} name`],
  [`snapshot cards --no-drill --resume ${RUN}`, `${SELECTED} drill`],
  [`snapshot data-files --id 1 --resume ${RUN}`, `${SELECTED} id`],
  ['snapshot calculations', 'PLATFORM_BASE_URL: expected', { settings: { PLATFORM_BASE_URL: '' } }],
  ['snapshot data-files', '--id or --ids-from: expected a list of data-file ids, got nothing'],
  ['snapshot data-files --id 4x', '--id or --ids-from.0: expected an integer'],
  ['snapshot data-files --id 4x', ', got "4x"'],
  ['snapshot data-files --id 4 --ids-from -', 'expected them as options or in a file, got both'],
  [
    'snapshot data-files --ids-from -',
    '-: expected at least one id, one per line, got none',
    { input: ' \n' },
  ],
  ['snapshot cards --datasets-from no/such', 'no/such: expected a file that can be read'],
  ['snapshot cards --dataset ..', 'datasetId: expected a name that is not empty, "." or ".."'],
  ['publish calculations last', `${NO_RUN} "last".`],
  [`publish kalkulations ${RUN}`, NO_SOURCE],
  ['diff reports', NO_SOURCE],
  ['diff files.', NO_SOURCE],
  ['diff files/../x', NO_SOURCE],
  ['diff ../files', NO_SOURCE],
  ['diff --since 2099-01-01', 'Expected a time that has passed, got "2099-'],
  ['diff --since yesterday', 'Expected a time ago such as 12h, 7d or 4w, or'],
  ['diff calculations a --since 1d', '--since: expected no run to compare with, since it names one, got a'],
  ['prune', 'expected --keep or --older-than, got none'],
  ['prune --keep 1 --older-than 1d', 'expected --keep or --older-than, got --keep and --older-than'],
  ['prune --keep 0', 'Expected a whole number from 1 to 100000'],

  ['report --hours 2', '--link'],
  ['report --link --hours 169', '168'],
  ['report --link --open', '--open'],
  ['report --link --output a.html', '--output'],
  ['report --output .', 'expected a file, got something else'],
  [
    'report --output no/such/x.html',
    'expected a file in a folder that can be written, got no such file or directory (ENOENT)',
  ],
  ['report --output - --json', 'expected a file with --json, got standard output'],

  ['query', 'SQL: expected a query, or --saved NAME, got none'],
  ['query "SELECT nam FROM calculations"', 'Binder Error: Referenced column "nam" not found'],
  ['query "DROP TABLE calculations"', 'expected a query that only reads (SELECT …), got DROP'],
  ['query "SELECT 1; SELECT 2"', 'expected one query, got 2 statements'],
  ['query "SELECT 1" --json --csv', 'expected --json or --csv or --parquet, got --json and --csv'],
  ['query "SELECT 1" --saved x', 'expected SQL or --saved, got SQL and --saved'],
  ['query --saved x', 'expected the name of a saved query, got "x"'],
  [
    'query "SELECT 1" --parquet /nowhere/x',
    '--parquet /nowhere/x: expected a file that can be written, got no such file or directory (ENOENT)',
  ],
  ['query "SELECT 1" --seconds 0', 'Expected a whole number from 1'],

  score('', "required option '--text <column>' not specified"),
  score('--text words', 'columns: expected "words", got a header with "id", "review", "shop"'),
  score('--text review --batch a/b', '--batch: expected 1 to 114 of A-Z a-z 0-9 . _ : -'),
  score('--text review --topic 2nd', '--topic.0.topic: expected a topic name'),
  score('--text review --encoding x', 'encoding: expected an encoding such as utf-8'),
  score('--text review --output scored.xlsx', 'expected a name that ends in .csv, .tsv, .ndjson'),
  score('--text review --output no/such/a.csv', 'expected a file in a folder that can be written'),
  score('--text review --output reviews.csv', 'expected another file than the one that is read'),
  score('--text review --max-calls x', 'Expected a whole number from 0'),
  ...['run', 'submit', 'formula check', 'formula set 7', 'snapshot data-files --ids-from'].map(
    (command): Refusal => [`${command} none`, 'none: expected a file that can be read'],
  ),
  [
    'score none.csv --text review',
    'none.csv: expected a file that can be read more than once, got no such file or directory (ENOENT)',
  ],
  ['forget', 'expected exactly one of them, got none'],
  [`forget --batch one --text-hash ${HASH}`, 'expected exactly one of them, got both'],
  ['forget --batch a/b', '--batch: expected 1 to 114'],
  ['forget --text-hash x', '--text-hash: expected a SHA-256, 64 hex digits, got "x"'],

  ofFile('run', '{"type": 3}\n', 'line 1: '),
  ofFile('run', '{"version":1\n', 'line 1: message: expected JSON'),
  ofFile('run', '', 'expected at least one job, got none'),
  ofFile(
    'run',
    lines([adds('a'), adds('b'), adds('a')]),
    'line 3: id: expected an id that no other line has',
  ),
  ofFile(
    'run',
    lines([{ type: 'update-formula', id: 'f', calculationId: '1', expression: 'SUM(' }]),
    'line 1: ',
  ),
  ofFile('run --output jobs.ndjson', lines([adds('a')]), '--output'),
  ['run sums.csv', 'the rows of a CSV need --from-csv and --template', { files: { 'sums.csv': 'n\n1\n' } }],
  ofFile('submit', '\n', 'expected at least one job, got none'),
  ...['run', 'submit'].flatMap((command): readonly Refusal[] => [
    [command, 'expected a file of jobs or --from-csv, got none'],
    [`${command} a --from-csv b --template c`, 'got a file of jobs and --from-csv'],
    [`${command} --from-csv b`, 'expected --from-csv and --template together, got --from-csv alone'],
    [`${command} a --template c`, 'got --template alone'],
    [
      `${command} --from-csv no/such --template job.json --dry-run`,
      'no/such: expected a file that can be read',
      { files: { 'job.json': SUM } },
    ],
  ]),
  ...ofTable('a,b\n1,2\n', { ...SUM, id: '{{bb}}' }, '{{bb}}: expected a column of the CSV'),
  ...ofTable('number,b\n1,2\n', { ...SUM, id: '{{numbr}}' }, 'did you mean number?'),
  ...ofTable('a,b\n1,2\n3\n', SUM, 'line 3: the row: expected 2 fields, got 1'),
  ...ofTable('a,b\n1,2\n\n3,x\n', SUM, 'line 4: column b: expected a number, got "x"'),
  ...ofTable('a,b\n1,2\n3,4\n', { ...SUM, id: 'same' }, 'line 3: id: expected an id that no other line has'),
  ...ofTable('a,b\n1,2\n', { ...SUM, packageId: 'none' }, 'line 2: packageId: expected'),
  ...ofTable('a,b\n', SUM, 'expected at least one job, got none'),
  ...ofTable('a,a\n', SUM, 'the header line: expected each name once'),
  ...ofTable('PK\u0003\u0004', SUM, 'got a ZIP archive or an Excel workbook'),
  ...ofTable('a,b\n1,2\n', '{"type":', 'expected a job as JSON'),
  ['submit -', 'SYNC_QUEUE_URL: required for this, got nothing', { settings: { SYNC_TABLE: 'ledger' } }],
  [
    'submit -',
    'SYNC_QUEUE_URL: expected the http or https URL of a queue',
    { settings: { SYNC_QUEUE_URL: 'jobs' } },
  ],
  ['submit -', 'SYNC_ALLOW: expected JSON', { settings: { SYNC_ALLOW: '[' } }],
  [
    'submit -',
    'line 1: type: expected an allowed value (data-files), got "run-function"',
    { settings: { SYNC_ALLOW: '{"types": ["data-files"]}' }, input: lines([adds('a')]) },
  ],
  ['jobs "a b"', 'Expected 1 to 128 of A-Z a-z 0-9 . _ : -, got "a b"'],
  ['jobs --state LOST', 'Expected one of CLAIMED, SENT, DONE, FAILED, UNKNOWN, got "LOST"'],
  ['jobs resolve a done', "required option '--note <text>' not specified"],
  ['jobs resolve a lost --note x', 'Allowed choices are done, failed'],
  ['jobs cancel', NOT_BOTH],
  ['jobs cancel a --batch b1', NOT_BOTH],
  ['redrive a --batch b1', 'expected ids of jobs or --batch, got ids of jobs and --batch'],
  ['jobs results', "required option '--output <file>'"],
  ['jobs results --output a.xlsx', 'expected a name that ends in .csv, .tsv, .ndjson or .jsonl'],
  [
    'jobs results --output no/such/a.csv',
    'expected a file in a folder that can be written, got no such file or directory (ENOENT)',
  ],
  ['jobs results --output a.csv --type scores', 'Expected one of'],
  ['pace --pause --resume', 'got --pause and --resume'],
  ['pace --reset --rate 5 --pause', 'got --pause and --reset and --rate'],
  ...['0', '-1', 'fast', "''"].map(
    (rate): Refusal => [`pace --rate ${rate}`, 'Expected a number from 0.001 to 10000'],
  ),

  [
    'runs --env-file /none/at/all',
    '/none/at/all: expected a file with settings, got no such file or directory (ENOENT)',
  ],
  ['runs --profile gamma', 'expected one of these files, got none'],
  ['runs --profile ../beta', 'expected a name of letters'],
  ['runs --profile a --env-file acme.env', 'expected --env-file or --profile, got --env-file and --profile'],
  [
    'runs --env-file wrong.env',
    'got PLATFORM_TOKN: there are none of these names',
    { files: { 'wrong.env': 'PLATFORM_TOKN=a-token-that-nobody-sees\nOTHER=1\n' } },
  ],
  ...['runs', 'diff calculations', 'formula log 1', 'jobs'].map(
    (line): Refusal => [
      line,
      '  HTTPS_PROXY: expected the http or https URL of a proxy, got "127.0.0.1:8080"',
      { settings: { HTTPS_PROXY: '127.0.0.1:8080' } },
    ],
  ),
];

/** A file that is named without a folder is in the test's. */
const inFolder = (word: string) =>
  /^[\w-]+\.(csv|ndjson|json|env)$/.test(word) ? join(folder.path, word) : word;

test.for(REFUSALS)('%s is refused, exit 2: %s', async ([line, said, given = {}]) => {
  const { input, files: made = {}, settings } = given;
  for (const [name, text] of Object.entries(made))
    await writeFile(join(folder.path, name), typeof text === 'string' ? text : JSON.stringify(text));
  const [argv = []] = parseLine(line).stages.map(({ words }) => words.map(inFolder));
  const environment = {
    // Where nobody listens: what was sent would end otherwise.
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 'a-token-that-nobody-sees',
    SYNC_STORE: folder.path,
    XDG_CONFIG_HOME: folder.path,
    ...settings,
  };

  const { code, out, err } = await runCommand(argv, environment, input);

  expect(err).toContain(said);
  expect(err).not.toMatch(/stopped; to resume|nobody-sees|^ {4}at /m);
  expect(code).toBe(2);
  expect(out).toEqual(argv.includes('--json') ? expect.stringContaining('"kind": "usage"') : '');
});

import { adds, lines } from './start-jobs.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const RUN = '20261121T091500Z-3fa9c1';
const HASH = 'a'.repeat(64);
const NO_RUN = 'Expected a run such as 20261121T091500Z-3fa9c1, got';
const NO_DATE = 'expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got';
const NOT_BOTH = 'expected ids of jobs or --batch, got';
const NARROWED = '--as: expected its own place, since --name or --filter narrows the snapshot, got nothing';
const SELECTED =
  '--resume: the run already has its selection: expected no other options that select records, got';
const NO_SOURCE = 'Expected one of calculations, files, cards, data-files, or SOURCE.NAME, got';
export type Given = {
  readonly input?: string;
  /** File contents by name. `null` creates a folder; an object is written as JSON. */
  readonly files?: Readonly<Record<string, string | object | null>>;
  /** `FOLDER` in a value stands for the test's folder. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The exit code. Default: 2. */
  readonly code?: number;
};

/** A command line, the message that refuses it, and the files, settings and input it is run with. */
export type WrongUse = readonly [line: string, message: string, given?: Given];

const REVIEWS = { files: { 'reviews.csv': 'id,review,shop\n1,wonderful!,A\n' } };
const score = (flags: string, message: string): WrongUse => [`score reviews.csv ${flags}`, message, REVIEWS];
const ofFile = (command: string, text: string, message: string): WrongUse => [
  `${command} jobs.ndjson`,
  message,
  { files: { 'jobs.ndjson': text } },
];
const files = (flags: string, message: string): WrongUse => [
  `snapshot files --fileset ${FILESET} ${flags}`,
  message,
];

export const wrongWords: readonly WrongUse[] = [
  ['--nonsense', "unknown option '--nonsense'"],
  ['ruun', '(Did you mean run?)'],
  ['snapshot calculation', '(Did you mean calculations?)'],
  ['jobs canel x', '(Did you mean cancel?)'],
  ['formula aply x', '(Did you mean apply?)'],
  ['runs --jsno', '(Did you mean --json?)'],
  ['report --outputt x', '(Did you mean --output?)'],
  ['runs calculation', 'did you mean calculations?'],
  ['jobs results --output a.csv --type run-functions', 'did you mean run-function?'],
  ['digest --to slak', 'did you mean slack?'],
  ['where-used 12 --kind crd', 'did you mean card?'],
  ['query --saved cleanup-by-ownr', 'did you mean cleanup-by-owner?'],
  ['query "SELECT * FROM calculation"', 'Did you mean "calculations"?'],
  ['report --output', "option '--output <file>' argument missing"],
  ['report --output --json', 'Expected a value, got the option --json'],
  ['report --output --open', 'Expected a value, got the option --open'],
  ["report --output ''", '--output: expected a file, got nothing'],
  ['report extra', "too many arguments for 'report'"],
  ['where-used', "missing required argument 'id'"],
  ["where-used ''", 'expected an id, got an empty string'],
  ['digest --since 1y', 'Expected an age such as 12h, 7d or 4w, or a date'],
  ['digest --to slack', '--to: expected SYNC_DIGEST_URL, the address of the webhook, got nothing'],
  ['runs --limit 1e99', 'Expected a whole number from 1 to 10000, got "1e99"'],
  ['query "SELEC 1"', 'expected a query that only reads (SELECT …), got SELEC'],
  ["query ''", 'expected a query, got none'],
  ['query "SELECT CAST(\'x\' AS INTEGER)"', "Could not convert string 'x' to INT32"],
  ['check nosuch.txt', 'nosuch.txt: expected a folder with rules, each a file *.sql, got no such file'],
  [
    'check none.txt',
    'expected a folder with rules, each a file *.sql, got 0 other files',
    { files: { 'none.txt': null } },
  ],
  ['check --seconds 0', 'Expected a whole number from 1 to 1000000, got "0"'],
  ['lineage --format dbt', 'Expected one of openlineage, datahub, got "dbt"'],
  [
    'lineage --output no/such/lineage.json',
    '--output no/such/lineage.json: expected a file in a folder that can be written',
  ],

  ['check a b', "too many arguments for 'check'"],
  ['formula apply changes.csv', "required option '--name <name>' not specified"],
  ['formula apply changes.csv --name -may', 'Expected at most 80 letters, digits, _, . and -, got "-may"'],
  [
    'formula apply changes.csv --name may --dry-run --submit',
    'expected --dry-run or --submit, got --dry-run and --submit',
  ],
  ['formula import', 'expected FILE or --from-job, got none'],
  ['formula import a.csv --from-job x', 'expected FILE or --from-job, got FILE and --from-job'],
  ['formula import no/such/file', 'no/such/file: expected a readable file, got no such file or directory'],
  [
    'formula export folder',
    'expected formulas in the store, got none; to store formulas: platform-sync formula import FILE',
  ],
  ['formula export folder --at soon', "option '--at <date>' argument 'soon' is invalid"],
  ['formula rename-column a b', "required option '--output <file>' not specified"],
  ['formula rename-column a a --output c.csv', 'expected a column and another name for it, got ["a","a"]'],
  [
    'formula rename-column a b --output c.ndjson',
    'c.ndjson: expected a name that ends in .csv, got another ending',
  ],
  ['formula undo nosuch', 'nosuch: expected the name of a set that was applied, got one that is not in'],
  ['formula log 7 --at yesterday', '--at: expected the time of an update of calculation 7'],
  ['tables calculation', 'did you mean calculations?'],
  ['mcp --allow-submt', '(Did you mean --allow-submit?)'],
  ['completion', "missing required argument 'shell'"],
  ['init', 'init needs a terminal to ask its questions. Set these instead'],
  ['work --concurrency many', 'Expected a whole number from 1 to 1000, got "many"'],
  ['batches nosuch', 'batch nosuch: it does not exist', { code: 1 }],
  ['jobs nosuch', 'job nosuch: not in the ledger', { code: 1 }],
  ['redrive nosuch', 'job nosuch: not in the ledger', { code: 1 }],
  score('--text', "option '--text <column>' argument missing"),
  score(
    '--text review --batch -may',
    'Expected 1 to 114 characters from A-Z a-z 0-9 . _ : -, not beginning with -',
  ),
  score('--text review --batch --json', 'Expected a value, got the option --json'),
  score('--text review --separator abc', 'separator: expected one character, not a quote or line ending'),
  score('--text review --topic a --topic a', '--topic: expected topics with different names'),
  [
    'score - --text review',
    'FILE: expected a file that can be read more than once, got -, standard input: save it as a file first',
  ],

  ['nonsense', "unknown command 'nonsense'"],
  ['snapshot kalkulations', 'expected one of all, calculations, files, cards, data-files'],
  ['snapshot all calculations', "too many arguments for 'all'"],
  ['snapshot all --force', "unknown option '--force'"],
  ['formula nonsense', 'expected one of check, set, '],
  ['completion tcsh', 'bash, zsh, fish'],
  ['env', '--stack: expected the name of a stack, got nothing'],

  ['call only-one', "missing required argument 'version'"],
  [`call a b c --input '[1]'`, 'or - for standard input, got "[1]"'],
  ['call a b c --input -', '--input: expected a JSON object such as'],
  ['call a b c --input @no/such', 'no/such: expected a readable file'],
  ['call a .. c', 'version: expected a name that is not empty, "." or "..", got ".."'],
  ['call no-uuid 1.0.0 f', 'package: expected a UUID (8-4-4-4-12 hex digits), got "no-uuid"'],
  ['sandbox --rate fast', 'Expected a number from 0.01 to 100000, got "fast".'],
  ['sandbox --calculations 1.5', 'Expected a whole number from 0'],

  ['formula check no/such/file', 'no/such/file: expected a readable file, or - for standard input'],
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
  files('--where colour:EQUALS:red', '--where: expected a field of a file (id, path, name, '),
  files('--where filetype:EQUALS:TEXT', 'createdBy), such as fileType, got "filetype"'),
  files('--where size:GRATER_THAN:1', 'LESS_THAN_OR_EQUAL), such as GREATER_THAN, got "GRATER_THAN"'),
  files('--since yesterday', `--since: ${NO_DATE} "yesterday"`),
  files('--until 2026-02-30', `--until: ${NO_DATE} "2026-02-30"`),
  files('--since 1 --until 2', `--since: ${NO_DATE} "1"\n--until: expected a date`),
  files(
    '--since 2026-02-01 --until 2026-01-31',
    '--since: expected a time that is not after --until, got "2026-02-01"',
  ),
  files('--as ../x', 'Expected 1 to 64 letters, digits, _ or -, got "../x"'),
  files("--as ''", 'Expected 1 to 64 letters, digits, _ or -, got ""'),
  files('--immediate', '--directory: expected a directory, since --immediate is given, got nothing'),
  ['snapshot files', '--fileset: expected a list of FileSet ids, got nothing'],
  ['snapshot files --fileset nope', '--fileset: expected a UUID (8-4-4-4-12 hex digits), got "nope"'],
  [`snapshot files --as ../x --resume ${RUN}`, 'Expected 1 to 64 letters, digits, _ or -'],
  ['snapshot calculations --name x', NARROWED],
  ['snapshot calculations --filter archived', NARROWED],
  ['snapshot calculations --filter :1 --as x', '--filter: expected FIELD, or FIELD:VALUE, got ":1"'],
  [
    'snapshot calculations --filter owner:abc --as x',
    'expected owner:VALUE with the id of a user, which is digits',
  ],
  [
    'snapshot calculations --filter owner: --as x',
    'expected owner:VALUE with the id of a user, which is digits',
  ],
  ['snapshot calculations --filter owner:1,a --as x', 'which is digits, got "owner:1,a"'],
  ['snapshot calculations --filter notOwner:abc --as x', 'expected notOwner:VALUE with the id of a user'],
  [
    'snapshot calculations --filter dataset:Sales --as x',
    'with the id of a dataset, which is a UUID, got "dataset:Sales"',
  ],
  ['snapshot calculations --filter card:a --as x', 'with the id of a card, which is digits'],
  ['snapshot calculations --filter status: --as x', 'expected status:VALUE with a value that is not empty'],
  ['snapshot calculations --resume last', ' has no run of calculations that was stopped'],
  ['snapshot calculations --resume ../x', `${NO_RUN} "../x".`],
  [`snapshot calculations --resume ${RUN}`, ' has no checkpoint'],
  [`snapshot calculations --name x --as x --resume ${RUN}`, `${SELECTED} name`],
  [`snapshot cards --no-drill --resume ${RUN}`, `${SELECTED} drill`],
  [`snapshot data-files --id 1 --resume ${RUN}`, `${SELECTED} id`],
  ['snapshot calculations', 'PLATFORM_BASE_URL: expected', { settings: { PLATFORM_BASE_URL: '' } }],
  ['snapshot data-files', '--id or --ids-from: expected a list of data-file ids, got nothing'],
  ['snapshot data-files --id 4x', '--id or --ids-from: expected an integer'],
  ['snapshot data-files --id 4x', ', got "4x"'],
  ['snapshot data-files --id 4 --ids-from -', 'give the ids as options or in a file, not both'],
  [
    'snapshot data-files --ids-from -',
    'standard input: line 1: expected at least one id, one a line or in a column of a CSV, got none',
    { input: ' \n' },
  ],
  ['snapshot cards --datasets-from no/such', 'no/such: expected a readable file'],
  [
    'snapshot cards --dataset ..',
    '--dataset or --datasets-from: expected a UUID (8-4-4-4-12 hex digits), got ".."',
  ],
  [
    'snapshot cards --dataset a/b',
    '--dataset or --datasets-from: expected a UUID (8-4-4-4-12 hex digits), got "a/b"',
  ],
  ['publish calculations last', `${NO_RUN} "last".`],
  [`publish kalkulations ${RUN}`, NO_SOURCE],
  ['diff reports', NO_SOURCE],
  ['diff files.', NO_SOURCE],
  ['diff files/../x', NO_SOURCE],
  ['diff ../files', NO_SOURCE],
  ['diff --since 2099-01-01', 'Expected a time in the past, got "2099-'],
  ['diff --since yesterday', 'Expected an age such as 12h, 7d or 4w, or'],
  ['diff calculations a --since 1d', '--since chooses the earlier run: expected no argument OLD, got a'],
  ['prune', 'expected --keep or --older-than, got none'],
  ['prune --keep 1 --older-than 1d', 'expected --keep or --older-than, got --keep and --older-than'],
  [
    'prune --keep 1',
    '--yes is required: this command deletes data, and there is no terminal to ask for confirmation',
  ],
  [
    'forget --batch one',
    '--yes is required: this command deletes data, and there is no terminal to ask for confirmation',
  ],
  ['prune --keep 0', 'Expected a whole number from 1 to 100000'],

  ['report --hours 2', '--link'],
  ['report --link --output x.html', 'expected --link or --output, got --link and --output'],
  ['report --link --hours 169', '168'],
  ['report --link --open', '--open'],
  ['report --output .', 'expected a file, got a folder'],
  [
    'report --output no/such/x.html',
    'expected a file in a folder that can be written, got no such file or directory',
  ],
  ['report --output - --json', '--json needs a file: expected --output FILE, got standard output'],

  ['query', 'expected a query as SQL or --saved NAME, got nothing'],
  ['query "SELECT nam FROM calculations"', 'Binder Error: Referenced column "nam" not found'],
  ['query "DROP TABLE calculations"', 'expected a query that only reads (SELECT …), got DROP'],
  ['query "SELECT 1; SELECT 2"', 'expected one query, got 2 statements'],
  ['query "SELECT 1" --json --csv', 'expected --json or --csv or --parquet, got --json and --csv'],
  ['query "SELECT 1" --saved x', 'expected SQL or --saved, got SQL and --saved'],
  ['query --saved x', 'expected the name of a saved query, got "x"'],
  [
    'query "SELECT 1" --parquet /nowhere/x',
    '--parquet /nowhere/x: expected a file that can be written, got no such file or directory',
  ],
  ['query "SELECT 1" --seconds 0', 'Expected a whole number from 1'],

  score('', "required option '--text <column>' not specified"),
  score('--text words', 'columns: expected "words", got a header with "id", "review", "shop"'),
  score('--text review --batch a/b', 'Expected 1 to 114 characters from A-Z a-z 0-9 . _ : -'),
  score('--text review --topic "delivery time"', 'such as delivery_time, got "delivery time"'),
  score('--text review --encoding x', 'encoding: expected an encoding such as utf-8'),
  score('--text review --output scored.xlsx', 'expected a name that ends in .csv, .tsv, .txt, .ndjson'),
  score('--text review --output no/such/a.csv', 'expected a file in a folder that can be written'),
  score('--text review --output reviews.csv', 'expected another file than the input'),
  score('--text review --max-calls x', 'Expected a whole number from 0'),
  ...['run', 'submit', 'formula check', 'formula set 7', 'snapshot data-files --ids-from'].map(
    (command): WrongUse => [`${command} none`, 'none: expected a readable file'],
  ),
  ['score none.csv --text review', 'none.csv: expected a readable file, got no such file or directory'],
  ['forget', 'expected --text-hash or --batch, got none'],
  [`forget --batch one --text-hash ${HASH}`, 'expected --text-hash or --batch, got --text-hash and --batch'],
  ['forget --batch a/b', 'Expected 1 to 114'],
  ['forget --text-hash x', 'Expected a SHA-256, 64 hex digits, got "x"'],

  ofFile('run', '{"type": 3}\n', 'line 1: '),
  ofFile('run', '{"version":1\n', 'line 1: message: expected JSON'),
  ofFile('run', '', 'there are no jobs in it'),
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
  ofFile('submit', '\n', 'there are no jobs in it'),
  ...['run', 'submit'].flatMap((command): readonly WrongUse[] => [
    [command, 'expected a file of jobs or --from-csv, got none'],
    [`${command} a --from-csv b --template c`, 'got a file of jobs and --from-csv'],
    [`${command} --from-csv b`, 'expected both --from-csv and --template, got only --from-csv'],
    [`${command} a --template c`, 'got only --template'],
  ]),
  ['submit -', 'SYNC_QUEUE_URL: required for this, got nothing', { settings: { SYNC_TABLE: 'ledger' } }],
  [
    'submit -',
    'SYNC_QUEUE_URL: expected the http or https URL of a queue',
    { settings: { SYNC_QUEUE_URL: 'jobs' } },
  ],
  ['submit -', 'SYNC_ALLOW: expected JSON', { settings: { SYNC_ALLOW: '[' } }],
  [
    'submit -',
    'line 1: type: expected one that SYNC_ALLOW allows (data-files), got "run-function"',
    { settings: { SYNC_ALLOW: '{"types": ["data-files"]}' }, input: lines([adds('a')]) },
  ],
  ['jobs "a b"', 'Expected 1 to 128 characters from A-Z a-z 0-9 . _ : -, got "a b"'],
  ['jobs --status LOST', 'Expected one of claimed, sent, done, failed, unknown, got "LOST"'],
  ['jobs resolve a done', "required option '--note <text>' not specified"],
  ['jobs resolve a lost --note x', 'Allowed choices are done, failed'],
  ['jobs cancel', NOT_BOTH],
  ['jobs cancel a --batch b1', NOT_BOTH],
  ['redrive a --batch b1', 'expected ids of jobs or --batch, got ids of jobs and --batch'],
  ['jobs results', "required option '--output <file>'"],
  ['jobs results --output a.xlsx', 'expected a name that ends in .csv, .tsv, .txt, .ndjson or .jsonl'],
  [
    'jobs results --output no/such/a.csv',
    'expected a file in a folder that can be written, got no such file or directory',
  ],
  ['jobs results --output a.csv --type scores', 'Expected one of'],
  ['pace --pause --resume', 'got --pause and --resume'],
  ['pace --reset --rate 5 --pause', 'got --pause and --reset and --rate'],
  ...['0', '-1', 'fast', "''"].map(
    (rate): WrongUse => [`pace --rate ${rate}`, 'Expected a number from 0.001 to 10000'],
  ),

  [
    'runs --env-file /none/at/all',
    '/none/at/all: expected a file with settings, got no such file or directory',
  ],
  ['runs --profile gamma', 'none of these files exists'],
  ['runs --profile ../beta', 'expected a name of letters'],
  ['runs --profile a --env-file acme.env', 'expected --env-file or --profile, got --env-file and --profile'],
  [
    'runs --env-file wrong.env',
    'wrong.env: expected settings, got PLATFORM_TOKN: did you mean PLATFORM_TOKEN?; SYNC_SPEED: there is no setting with this name',
    { files: { 'wrong.env': 'PLATFORM_TOKN=a-token-that-nobody-sees\nOTHER=1\nSYNC_SPEED=1\n' } },
  ],
  ...['runs', 'diff calculations', 'formula log 1', 'jobs'].map(
    (line): WrongUse => [
      line,
      '  HTTPS_PROXY: expected the address of an http or https proxy, got "socks5://127.0.0.1"',
      { settings: { HTTPS_PROXY: 'socks5://127.0.0.1' } },
    ],
  ),
];

import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import type { WrongUse } from './wrong-uses.ts';

const SUM = {
  type: 'run-function',
  packageId: codePackages[0]?.id,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
  inputVariables: { first: '{{a:number}}', second: '{{b:number}}' },
};

/** Bytes that are not text, like those of a picture or a workbook. */
const BYTES = Buffer.from([0x89, 0x50, 0, 0xff, 0x0a, 0, 1, 2]);

const MISSING = 'got no such file or directory';
const NO_ROWS = 'expected CSV, NDJSON or a JSON array of objects, got zero bytes';

const score = (csv: string | Buffer | null, message: string): WrongUse => [
  'score reviews.csv --text review',
  message,
  { files: { 'reviews.csv': csv } },
];
/** The wrong inputs that `run` and `submit` share. */
const ofTable = (csv: string, template: string | object, message: string): readonly WrongUse[] =>
  ['run', 'submit --dry-run'].map((command) => [
    `${command} --from-csv sums.csv --template job.json`,
    message,
    { files: { 'sums.csv': csv, 'job.json': template } },
  ]);
const settingsFile = (text: string | Buffer | null, message: string): WrongUse => [
  'runs --env-file acme.env',
  message,
  { files: { 'acme.env': text } },
];
const submit = (text: string | Buffer | null, message: string): WrongUse => [
  'submit jobs.ndjson',
  message,
  { files: { 'jobs.ndjson': text } },
];
const settings = (
  line: string,
  given: Readonly<Record<string, string>>,
  message: string,
  code = 2,
): WrongUse => [line, message, { settings: given, code }];
const store = (SYNC_STORE: string, message: string) => settings('runs', { SYNC_STORE }, message);

const S3 = 'open the store (SYNC_STORE): expected s3://bucket/prefix or a directory';

/** Correct command lines with wrong files or settings. */
export const wrongInputs: readonly WrongUse[] = [
  ['score none.csv --text review', MISSING],
  score(null, 'expected a file that can be read more than once, got a folder'),
  score('', 'line 1: the header: expected column names, got nothing'),
  score('1,late\n2,wonderful\n', 'got a header with "1", "late": the first line must be the header'),
  score(BYTES, NO_ROWS),
  [
    'score reviews.csv --text review --output reviews.csv/a.csv',
    'got not a directory',
    { files: { 'reviews.csv': 'id,review\n1,a\n' } },
  ],

  settingsFile('', 'expected settings, such as PLATFORM_TOKEN=…, got none'),
  settingsFile(BYTES, 'line 1: expected a text, got zero bytes'),
  settingsFile(null, 'expected a file with settings, got a folder'),
  settingsFile(
    'PLATFORM_TOKEN=abc#nobody-sees\n',
    'expected quotes around the whole value of PLATFORM_TOKEN',
  ),
  settingsFile('export PLATFORM_TOKEN = a b#c\n', 'expected quotes around the whole value of PLATFORM_TOKEN'),
  settingsFile('PLATFORM_TOKEN="nobody-sees\n', 'expected quotes around the whole value of PLATFORM_TOKEN'),
  ['runs --env-file none.env', `none.env: expected a file with settings, ${MISSING}`],

  ...['run', 'submit'].flatMap((command): readonly WrongUse[] => [
    [
      `${command} --from-csv no/such --template job.json --dry-run`,
      'no/such: expected a readable file',
      { files: { 'job.json': SUM } },
    ],
  ]),
  ...ofTable('a,b\n1,2\n', { ...SUM, id: '{{bb}}' }, '{{bb}}: the CSV has no column of this name'),
  ...ofTable('number,b\n1,2\n', { ...SUM, id: '{{numbr}}' }, 'did you mean number?'),
  ...ofTable('a,b\n1,2\n3\n', SUM, 'line 3: column b: expected a number, got an empty cell'),
  ...ofTable('a,b\n1,2\n\n3,x\n', SUM, 'line 4: column b: expected a number, got "x"'),
  ...ofTable('a,b\n1,2\n3,4\n', { ...SUM, id: 'same' }, 'line 3: id: expected an id that no other line has'),
  ...ofTable('a,b\n1,2\n', { ...SUM, packageId: 'none' }, 'line 2: packageId: expected'),
  ...ofTable('a,b\n', SUM, 'there are no jobs in it'),
  ...ofTable('a,a\n', SUM, 'the CSV has more than one column "a"'),
  ...ofTable(
    'PK\u0003\u0004xl/',
    SUM,
    'line 1: expected CSV, NDJSON or a JSON array of objects, got an Excel workbook: save its sheet as CSV UTF-8',
  ),
  ...ofTable('a,b\n1,2\n', '{"type":', 'expected a job as JSON'),

  submit('', 'there are no jobs in it'),
  submit(BYTES, 'expected a text, got zero bytes'),
  submit(null, 'expected a readable file, or - for standard input, got a folder'),
  submit('{"version":1}\n{"version":1,}\n', '  line 1: type: expected one of run-function'),
  submit(
    '{"version":1}\n{"version":1,}\n',
    '  line 2: message: expected JSON, got 14 characters that are invalid at column 14',
  ),
  submit(
    '{"version":1,"type":nil}\n',
    'line 1: message: expected JSON, got 24 characters that are invalid at column 22',
  ),
  submit('{"version":1,"type":"score', 'invalid at column 26'),
  submit('{"version":1,"type":"scor"}\n', 'line 1: type: expected one of run-function, score'),
  ['run jobs.ndjson', NO_ROWS, { files: { 'jobs.ndjson': BYTES } }],
  ['run jobs.ndjson', 'got a folder', { files: { 'jobs.ndjson': null } }],

  ...['none.csv', 'changes.csv'].map(
    (file): WrongUse => [
      `formula apply ${file} --name may`,
      file === 'none.csv' ? MISSING : 'columns: expected "expression"',
      { files: { 'changes.csv': 'id,formula\n1,SUM(1)\n' } },
    ],
  ),
  ['formula apply changes.csv --name may', 'got a folder', { files: { 'changes.csv': null } }],
  ['formula check formula.txt', 'expected a text, got zero bytes', { files: { 'formula.txt': BYTES } }],
  [
    'formula check formula.txt',
    'formula.txt:1:5: Expected a value or ")", but the formula ends here',
    { files: { 'formula.txt': 'SUM(' }, code: 1 },
  ],
  ['formula check formula.txt', 'got a folder', { files: { 'formula.txt': null } }],
  [
    'snapshot data-files --ids-from ids.txt',
    'expected a text, got zero bytes',
    { files: { 'ids.txt': BYTES } },
  ],
  [
    'snapshot data-files --ids-from ids.txt',
    'expected at least one id, one a line or in a column of a CSV, got none',
    { files: { 'ids.txt': '\n' } },
  ],
  [
    'call 6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403 1.0.0 f --input @input.json',
    'got invalid JSON in @',
    { files: { 'input.json': '{"a":' } },
  ],
  [
    'query "SELECT 1" --csv rows.csv',
    'expected a file that can be written, got a folder',
    { files: { 'rows.csv': null } },
  ],

  store('s3:/bucket/prefix', S3),
  store('s3/bucket/prefix', S3),
  store('S3://bucket', S3),
  store('s3://', S3),
  store(
    's3://My_Bucket/a',
    'the bucket of 3 to 63 lower-case letters, digits, . and -, got "s3://My_Bucket/a"',
  ),
  store('s3://bucket//a', 'with a prefix that is a valid key, got "s3://bucket//a"'),
  store('https://bucket.s3.amazonaws.com/a', S3),
  store('FOLDER/none', 'expected a directory that exists'),
  store('FOLDER/none', 'or take the first one: platform-sync snapshot calculations'),
  [
    'runs',
    'expected a directory, got',
    { settings: { SYNC_STORE: 'FOLDER/a.csv' }, files: { 'a.csv': 'a' } },
  ],

  settings('doctor', { SYNC_ALLOW: '[' }, 'SYNC_ALLOW: expected JSON', 1),
  settings('doctor', { SYNC_ALLOW: '{"type":["score"]}' }, 'SYNC_ALLOW.type: not a known name', 1),
  settings('doctor', { SYNC_FOLLOWERS: '{' }, 'SYNC_FOLLOWERS: expected JSON', 1),
  settings('doctor', { SYNC_FOLLOWERS: '[{"source":"x"}]' }, 'SYNC_FOLLOWERS[0]: ', 1),
  settings(
    'doctor',
    { PLATFORM_BASE_URL: 'acme.example.com' },
    'PLATFORM_BASE_URL: expected an origin over https',
    1,
  ),
  settings('doctor', { SYNC_GATES: '{' }, 'SYNC_GATES: expected JSON', 1),
  settings('work --drain', { SYNC_GATES: '[1]' }, 'SYNC_GATES: expected an object by place'),
  settings('work --drain', { SYNC_FOLLOWERS: '{' }, 'SYNC_FOLLOWERS: expected JSON'),
  settings(
    'work --drain',
    { SYNC_ALLOW: '{"types":["run-fnction"]}' },
    'SYNC_ALLOW.types.0: expected one of',
  ),
  settings('snapshot calculations', { PLATFORM_BASE_URL: '' }, 'to enter and test them: platform-sync init'),
  settings(
    'snapshot calculations',
    { PLATFORM_RATE: 'fast' },
    'PLATFORM_RATE: expected a number from 0.001 to 10000',
  ),
  settings(
    'snapshot calculations',
    { PLATFORM_TIMEOUT_MS: '1e12' },
    'PLATFORM_TIMEOUT_MS: expected a whole number from 1 to 3600000',
  ),
  settings(
    'snapshot calculations',
    { PLATFORM_TOKEN: 'a b' },
    'PLATFORM_TOKEN: expected visible ASCII characters without spaces',
  ),
  settings(
    'snapshot calculations',
    { PLATFORM_TOKEN: '' },
    'PLATFORM_TOKEN or PLATFORM_TOKEN_SECRET: expected one of the two, got neither',
  ),
  settings(
    'snapshot calculations',
    { SYNC_COMPRESSION: 'zip' },
    'SYNC_COMPRESSION: expected gzip or zstd, got "zip"',
  ),
  settings(
    'snapshot calculations',
    { PLATFORM_BASE_URL: 'https://u:nobody-sees@acme.example.com' },
    'PLATFORM_BASE_URL: expected an origin',
  ),
  settings(
    'digest --to slack',
    { SYNC_DIGEST_URL: 'http://nobody-sees' },
    'SYNC_DIGEST_URL: expected an address over https',
  ),
  settings(
    'submit -',
    { SYNC_QUEUE_URL: 'sqlite:' },
    'SYNC_QUEUE_URL: expected the http or https URL of a queue',
  ),
  [
    'jobs',
    'expected a whole SQLite file',
    { settings: { SYNC_TABLE: 'sqlite:FOLDER/a.csv' }, files: { 'a.csv': BYTES } },
  ],
];

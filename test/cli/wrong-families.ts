import type { WrongUse } from './wrong-uses.ts';

/* Mistakes that can be made with every command. The message gives what was expected and what was found, in one line. */

const UUID = '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403';
const RUN = '20261121T091500Z-3fa9c1';
const HASH = 'a'.repeat(64);
const PLACES = 'Expected one of calculations, files, cards, data-files, or SOURCE.NAME, got';
const JOB = 'Expected 1 to 128 characters from A-Z a-z 0-9 . _ : -, got';
const BATCH =
  'Expected 1 to 114 characters from A-Z a-z 0-9 . _ : -, not beginning with -, and not "." or "..", got';
const DIGITS = 'Expected the digits of an integer, got';
const SET = 'Expected at most 80 letters, digits, _, . and -, got';
const AGO =
  'Expected an age such as 12h, 7d or 4w, or a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got';
const FILLED = 'Expected a value that is not empty, got';

const REVIEWS = { files: { 'reviews.csv': 'id,review,shop\n1,wonderful!,A\n' } };
const score = (flags: string, message: string): WrongUse => [`score reviews.csv ${flags}`, message, REVIEWS];
const ofFolder = (line: string, message: string): WrongUse => {
  const [name = ''] = /folder\.\w+/.exec(line) ?? [];
  return [line, message, { files: { [name]: null, 'some.csv': 'id\n1\n' } }];
};

const unknownOptions: readonly WrongUse[] = [
  ['batches --limit 5', "unknown option '--limit'"],
  ['call a 1 f --inputs {}', '(Did you mean --input?)'],
  ['doctor --fix', "unknown option '--fix'"],
  ['env --stacks x', '(Did you mean --stack?)'],
  ['formula check a.txt --strict', "unknown option '--strict'"],
  ['init --sandboxes', '(Did you mean --sandbox?)'],
  ['jobs --state failed', '(Did you mean --status?)'],
  ['pace --speed 2', "unknown option '--speed'"],
  ['prune --older-than 1d --force', "unknown option '--force'"],
  ['query "SELECT 1" --cvs', '(Did you mean --csv?)'],
  ['redrive --execute', '(Did you mean --executed?)'],
  ['run jobs.ndjson --drain', "unknown option '--drain'"],
  ['sandbox --port 99999', "unknown option '--port'"],
  ['snapshot cards --fileset x', "unknown option '--fileset'"],
  ['tables --force', "unknown option '--force'"],
  ['work --drain --all', "unknown option '--all'"],
];

const missingValues: readonly WrongUse[] = [
  [`call ${UUID} 1.0.0 f --input`, "option '--input <json>' argument missing"],
  ['diff --limit', "option '--limit <n>' argument missing"],
  ['env --stack', "option '--stack <name>' argument missing"],
  ['forget --text-hash', "option '--text-hash <hash>' argument missing"],
  ['formula log 12 --at', "option '--at <time>' argument missing"],
  ['formula set 12', "missing required argument 'file'"],
  ['jobs --status', "option '--status <status>' argument missing"],
  ['jobs cancel --batch', "option '--batch <name>' argument missing"],
  ['pace --rate', "option '--rate <n>' argument missing"],
  ['publish calculations', "missing required argument 'run'"],
  ['run --from-csv', "option '--from-csv <file>' argument missing"],
  ['sandbox --seed', "option '--seed <n>' argument missing"],
  ['snapshot files --fileset', "option '--fileset <id>' argument missing"],
  ['where-used 12 --kind', "option '--kind <kind>' argument missing"],
];

const wrongShapes: readonly WrongUse[] = [
  ['diff --limit -3', 'Expected a whole number from 0 to 1000000, got "-3"'],
  [`forget --text-hash ${HASH}0`, `Expected a SHA-256, 64 hex digits, got "${HASH}0"`],
  [
    'formula apply a.csv --name x --max-affected many',
    'Expected a whole number from 0 to 1000000000, got "many"',
  ],
  ['formula apply a.csv --name x --no-undo-for abc', `${DIGITS} "abc"`],
  ['formula undo may --even-if-changed x', `${DIGITS} "x"`],
  ['jobs --limit 0', 'Expected a whole number from 1 to 10000, got "0"'],
  ['prune --keep many', 'Expected a whole number from 1 to 100000, got "many"'],
  ['report --hours many', 'Expected a whole number from 1 to 168, got "many"'],
  ['sandbox --faults 2', 'Expected a number from 0 to 1, got "2"'],
  ['where-used 12 --hops 0', 'Expected a whole number from 1 to 1000000, got "0"'],
  score('--text review --max-calls -1', 'Expected a whole number from 0 to 1000000000, got "-1"'),
  score('--text review --id nope', 'columns: expected "nope", got a header with "id", "review", "shop"'),
];

const exclusive: readonly WrongUse[] = [
  ['pace --pause --reset', 'expected --pause or --resume or --reset or --rate, got --pause and --reset'],
  [
    'where-used sales --dataset d --kind card',
    '--dataset is only for a column: expected no --kind or --kind column, got --kind card',
  ],
  [
    'query "SELECT 1" --csv --parquet x.parquet',
    'expected --json or --csv or --parquet, got --csv and --parquet',
  ],
];

const otherIds: readonly WrongUse[] = [
  ['diff 1008', `${PLACES} "1008"`],
  [`formula log ${UUID}`, `${DIGITS} "${UUID}"`],
  ['formula set 12.5 a.txt', `${DIGITS} "12.5"`],
  ['publish calculations 2026-11-21', `Expected a run such as ${RUN}, got "2026-11-21"`],
  ['runs 1008', `${PLACES} "1008"`],
  ['snapshot files --fileset 1008', '--fileset: expected a UUID (8-4-4-4-12 hex digits), got "1008"'],
  ['snapshot data-files --id 1.5', '--id or --ids-from: expected an integer of at most 64 digits'],
];

const noDates: readonly WrongUse[] = [
  ['digest --since 2026-13-01', `${AGO} "2026-13-01"`],
  ['jobs results --output a.csv --since yesterday', `${AGO} "yesterday"`],
  ['prune --older-than 90', `${AGO} "90"`],
  ['prune --older-than 2099-01-01 --yes', 'Expected a time in the past, got "2099-01-01"'],
  ['formula set 12 a.txt --unless-changed-since today --name x', 'Expected a whole number from 0 to'],
];

const folders: readonly WrongUse[] = [
  ofFolder('formula check folder.txt', 'expected a readable file, or - for standard input, got a folder'),
  ofFolder(
    'formula apply folder.csv --name x',
    'expected a file that can be read more than once, got a folder',
  ),
  ofFolder('run folder.ndjson', 'expected a file that can be read more than once, got a folder'),
  ofFolder('submit folder.ndjson', 'expected a readable file, or - for standard input, got a folder'),
  ofFolder('run --from-csv some.csv --template folder.json', 'or - for standard input, got a folder'),
  ofFolder('score folder.csv --text review', 'expected a file that can be read more than once, got a folder'),
  ofFolder('jobs results --output folder.csv', 'expected a file, got a folder'),
  ofFolder('query "SELECT 1" --csv folder.csv', 'expected a file that can be written, got a folder'),
  ofFolder('snapshot cards --datasets-from folder.csv', 'or - for standard input, got a folder'),
  [`call ${UUID} 1.0.0 f --input @none.json`, 'or - for standard input, got no such file or directory'],
];

const slashes: readonly WrongUse[] = [
  ['batches a/b', `${BATCH} "a/b"`],
  ['formula apply a.csv --name a/b', `${SET} "a/b"`],
  ['formula undo a/b', `${SET} "a/b"`],
  ['jobs a/b', `${JOB} "a/b"`],
  ['jobs cancel --batch a/b', `${BATCH} "a/b"`],
  ['jobs resolve a/b done --note x', `${JOB} "a/b"`],
  ['redrive a/b', `${JOB} "a/b"`],
  ['snapshot calculations --as a/b', 'Expected 1 to 64 letters, digits, _ or -, got "a/b"'],
  ['query --saved a/b', 'expected the name of a saved query, got "a/b"; there are broken-references, '],
];

const empty: readonly WrongUse[] = [
  ["batches ''", `${BATCH} ""`],
  [`call ${UUID} '' f`, 'version: expected a name that is not empty, "." or "..", got ""'],
  ["formula undo ''", `${SET} ""`],
  ["jobs resolve a done --note ''", `${FILLED} ""`],
  ["redrive ''", `${JOB} ""`],
  ["run ''", '"": expected a readable file, got no such file or directory'],
  ["submit ''", '"": expected a readable file, or - for standard input, got no such file or directory'],
  ["snapshot calculations --name '' --as x", '--name: expected text that is not empty, got ""'],
  [
    "snapshot cards --dataset ''",
    '--dataset or --datasets-from: expected a UUID (8-4-4-4-12 hex digits), got ""',
  ],
  ["snapshot data-files --id ''", 'got ""'],
  ["where-used sales --dataset ''", '--dataset: expected the id of a dataset, got nothing'],
  score("--text ''", `${FILLED} ""`),
  score("--text review --topic ''", 'Expected a topic name: a letter, then letters, digits or underscores'),
];

const otherWords: readonly WrongUse[] = [
  ['completion bash zsh', "too many arguments for 'completion'. Expected 1 argument but got 2: bash, zsh"],
  ['doctor now', "too many arguments for 'doctor'. Expected 0 arguments but got 1: now"],
  ['forget may', "too many arguments for 'forget'. Expected 0 arguments but got 1: may"],
  ['mcp start', "too many arguments for 'mcp'. Expected 0 arguments but got 1: start"],
  ['runs --all yes', `${PLACES} "yes"`],
  ['sandbox start', "too many arguments for 'sandbox'. Expected 0 arguments but got 1: start"],
  ['tables jobs', `${PLACES} "jobs"`],
  ['work drain', "too many arguments for 'work'. Expected 0 arguments but got 1: drain"],
];

export const wrongFamilies: readonly WrongUse[] = [
  unknownOptions,
  missingValues,
  wrongShapes,
  exclusive,
  otherIds,
  noDates,
  folders,
  slashes,
  empty,
  otherWords,
].flat();

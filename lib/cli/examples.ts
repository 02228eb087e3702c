import type { Command } from 'commander';

/** The ids are those of the sandbox. */
const DATASET = 'cd27b9a0-a9d4-446b-9b16-02103df7f112';
const FILESET = '5ab50524-9b3d-4a75-b88a-f20ea274b5d8';
const PACKAGE = '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403';
const RUN = '20261121T091500Z-3fa9c1';

/** What each command's help shows, by the words that lead to the command: command lines without `platform-sync`. */
const examples: Readonly<Record<string, readonly string[]>> = {
  snapshot: ['snapshot calculations', 'snapshot calculations --resume last'],
  'snapshot calculations': [
    'snapshot calculations',
    'snapshot calculations --name Revenue --as revenue',
    'snapshot calculations --resume last',
  ],
  'snapshot files': [
    `snapshot files --fileset ${FILESET}`,
    `snapshot files --fileset ${FILESET} --directory /reports --since 2026-11-01 --as reports`,
  ],
  'snapshot cards': ['snapshot cards', `snapshot cards --dataset ${DATASET} --no-drill`],
  'snapshot data-files': [
    'snapshot data-files --id 40009 --id 40030',
    'snapshot data-files --ids-from ids.txt',
  ],
  publish: [`publish calculations ${RUN} --force`],
  runs: ['runs', 'runs calculations --limit 5', 'runs --all'],
  diff: ['diff calculations', 'diff calculations --since 7d', 'diff --json'],
  'where-used': [
    `where-used ${DATASET}`,
    'where-used 1008 --kind calculation --hops 2',
    `where-used ${DATASET} --json --limit 10000`,
    'where-used /reports/2026 --kind file',
  ],
  prune: ['prune calculations --keep 30 --dry-run', 'prune --older-than 90d'],
  query: [
    'query "SELECT status, count(*) FROM calculations GROUP BY status"',
    'query --saved what-changed-this-week --csv',
    'query --saved',
  ],
  report: ['report --open', 'report --output weekly.html', 'report --json', 'report --link --hours 168'],
  score: [
    'score reviews.csv --text comment --id user --topic delivery --topic "support=the help desk" --dry-run',
    'score reviews.csv --text comment --id user --topic delivery --batch may --max-calls 1000',
    'score reviews.csv --text comment --id user --topic delivery --output scored.csv',
  ],
  batches: ['batches', 'batches may'],
  call: [
    `call ${PACKAGE} 1.0.0 addNumbers --input '{"first": 40, "second": 2}'`,
    `call ${PACKAGE} 1.0.0 addNumbers --input @input.json --logs`,
  ],
  formula: ['formula check formula.txt', 'formula set 1008 formula.txt --dry-run', 'formula log 1008'],
  'formula check': ['formula check formula.txt', 'formula check - --json'],
  'formula set': [
    'formula set 1008 formula.txt --dry-run',
    'formula set 1008 formula.txt --unless-changed-since 1763712000000 --name Revenue',
  ],
  'formula log': ['formula log 1008', 'formula log 1008 --at 20261122T184413239Z'],
  run: [
    'run jobs.ndjson --output results.ndjson',
    'run --from-csv days.csv --template job.json --output days-done.csv',
  ],
  submit: [
    'submit jobs.ndjson --dry-run',
    'submit -',
    'submit --from-csv days.csv --template job.json --dry-run',
  ],
  work: ['work', 'work --drain --concurrency 4'],
  jobs: [
    'jobs --state UNKNOWN',
    'jobs nightly-1',
    'jobs resolve nightly-1 done --note "seen on the platform"',
  ],
  'jobs cancel': ['jobs cancel nightly-1 nightly-2', 'jobs cancel --batch may'],
  'jobs resolve': ['jobs resolve nightly-1 failed --note "it is not in the list of executions"'],
  'jobs results': [
    'jobs results --output results.csv',
    'jobs results --type run-function --since 7d --output results.ndjson',
  ],
  redrive: ['redrive', 'redrive nightly-1', 'redrive --batch may'],
  tables: ['tables --dry-run', 'tables calculations scores'],
  forget: [
    'forget --batch may',
    'forget --text-hash 0d57f29f8eef9365dbfd4e45528098967ed655efa0ce95494945350bfafbabb0',
  ],
  mcp: ['mcp', 'mcp --profile acme', 'mcp --allow-submit'],
  pace: ['pace', 'pace --pause', 'pace --rate 1'],
  sandbox: ['sandbox > sandbox.env', 'sandbox --rate 5 --faults 0.02 --latency 100'],
  completion: ['completion bash', 'completion zsh', 'completion fish'],
  doctor: ['doctor', 'doctor --profile acme', 'doctor --json'],
};

/** The words that lead to a command, such as `snapshot files`. */
export const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();

/** Adds its examples to the help of a command and of all below it. */
export function addExamples(command: Command): void {
  const lines = (examples[pathOf(command)] ?? []).map((line) => `  platform-sync ${line}`);
  if (lines.length > 0) command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
  for (const below of command.commands) addExamples(below);
}

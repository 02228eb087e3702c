import { defineCommand } from '../command.ts';
import { fileOfJobs } from '../jobs/csv-jobs.ts';
import { CONCURRENCY } from '../options/options.ts';

/** `run JOBS.ndjson`: runs the jobs of a file here, each to its one outcome. The same command again runs the rest. */
export const run = defineCommand({
  does: 'Run the jobs of a file in this process, each to its one outcome; every row is checked before any is run, and the same command again runs what is left.',
  arguments: [['[file]', 'the jobs as JSON, one per line; may be gzipped']],
  options: [
    ['--from-csv <file>', 'make a job of each row of this CSV, by --template'],
    ['--template <file>', 'a job as JSON, in which {{column}} stands for a cell; - for standard input'],
    ['--encoding <label>', 'the encoding of the file (default: detected)'],
    ['--separator <character>', 'the separator of the CSV (default: detected from its header)'],
    ['--output <file>', 'write a row for each job: .csv, .tsv, .ndjson or .jsonl, with .gz or without'],
    CONCURRENCY,
    ['--dry-run', 'check everything, formulas too, but run nothing'],
    ['--json', 'print how many ended and how as one JSON value'],
  ],
  examples: [
    'run jobs.ndjson --output results.ndjson',
    'run --from-csv days.csv --template job.json --output days-done.csv',
  ],
  async run([given], flags, terminal) {
    const file = fileOfJobs('run', given, flags);
    const { runJobs } = await import('../jobs/run-jobs.ts');
    return runJobs({ ...flags, file }, terminal);
  },
});

import type { AddCommand } from '../command.ts';
import { fileOfJobs } from '../csv-jobs.ts';
import { numberOption } from '../options.ts';
import type { RunFlags } from '../run-jobs.ts';

/** `run JOBS.ndjson`: runs the jobs of a file here, each to its one outcome. The same command again runs the rest. */
export const addRun: AddCommand = (program, terminal, finish) => {
  program
    .command('run')
    .description(
      'Run the jobs of a file in this process, each to its one outcome; every row is checked before any is run, and the same command again runs what is left.',
    )
    .argument('[file]', 'the jobs as JSON, one per line; may be gzipped')
    .option('--from-csv <file>', 'make a job of each row of this CSV, by --template')
    .option('--template <file>', 'a job as JSON, in which {{column}} stands for a cell; - for standard input')
    .option('--encoding <label>', 'the encoding of the file (default: detected)')
    .option('--separator <character>', 'the separator of the CSV (default: detected from its header)')
    .option('--output <file>', 'write a row for each job: .csv, .tsv, .ndjson or .jsonl, with .gz or without')
    .option(
      '--concurrency <n>',
      'the most jobs to run at once (default: PLATFORM_CONCURRENCY)',
      numberOption(1, 1_000),
    )
    .option('--dry-run', 'check everything, formulas too, but run nothing')
    .option('--json', 'print how many ended and how as one JSON value')
    .action(
      async (given: string | undefined, flags: Omit<RunFlags, 'file'> & { readonly fromCsv?: string }) => {
        const file = fileOfJobs('run', given, flags);
        const { runJobs } = await import('../run-jobs.ts');
        finish(await runJobs({ ...flags, file }, terminal));
      },
    );
};

import type { Command } from 'commander';
import { jobTypes } from '../../jobs/types/job-types.ts';
import type { Finish } from '../command.ts';
import { momentOption } from '../moment-option.ts';
import { choiceOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** `jobs results --output FILE`: the results of jobs in one file. Needs the store alone. */
export function addResults(jobs: Command, terminal: Terminal, finish: Finish): void {
  jobs
    .command('results')
    .description('Write the results of jobs to one file: NDJSON, each as it is stored, or CSV.')
    .requiredOption('--output <file>', 'the file: .csv, .tsv, .ndjson or .jsonl, with .gz or without')
    .option('--type <type>', `only one type of job: ${jobTypes.join(', ')}`, choiceOption(jobTypes))
    .option(
      '--since <time>',
      'only jobs that ended since then: so long ago (12h, 7d, 4w), or a date',
      momentOption(),
    )
    .option('--json', 'print how many there are as one JSON value')
    .action(async (flags) => {
      const { writeResults } = await import('../write-results.ts');
      finish(await writeResults(flags, terminal));
    });
}

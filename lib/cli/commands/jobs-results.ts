import { jobTypes } from '../../jobs/types/job-types.ts';
import { defineCommand } from '../command.ts';
import { choiceOption, momentOption } from '../options/options.ts';

const readType = choiceOption(jobTypes);

/** `jobs results --output FILE`: the results of jobs in one file. Needs the store alone. */
export const results = defineCommand({
  does: 'Write the results of jobs to one file: NDJSON, each as it is stored, or CSV.',
  required: [['--output <file>', 'the file: .csv, .tsv, .ndjson or .jsonl, with .gz or without']],
  options: [
    ['--type <type>', `only one type of job: ${jobTypes.join(', ')}`, readType],
    [
      '--since <time>',
      'only jobs that ended since then: so long ago (12h, 7d, 4w), or a date',
      momentOption(),
    ],
    ['--json', 'print how many there are as one JSON value'],
  ],
  examples: [
    'jobs results --output results.csv',
    'jobs results --type run-function --since 7d --output results.ndjson',
  ],
  async run(_, flags, terminal) {
    const { writeResults } = await import('../jobs/write-results.ts');
    return writeResults(flags, terminal);
  },
});

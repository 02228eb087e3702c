import type { AddCommand } from '../command.ts';
import { collected, numberOption, topicOption } from '../options.ts';
import type { ScoreFlags } from '../run-score.ts';

/** `score FILE`: the sentiment of every text of a file, in this process. Each text is paid for once. */
export const addScore: AddCommand = (program, terminal, finish) => {
  program
    .command('score')
    .description('Score every text of a CSV or NDJSON file, in this process; each text is paid for once.')
    .argument('<file>', 'the texts; may be gzipped')
    .requiredOption('--text <column>', 'the column that holds the text')
    .option('--id <column>', 'the column that holds the row’s id (the number of its line)')
    .option('--topic <name[=description]>', 'a topic to score; may be given again', topicOption)
    .option('--instructions <text>', 'what the model is told besides')
    .option('--model <model>', 'the model (the platform’s own)')
    .option('--columns <a,b>', 'columns that go along into the scores', columnsOption)
    .option('--max-calls <n>', 'send nothing if more calls were needed', numberOption(0, 1_000_000_000))
    .option('--dry-run', 'tell what it would take and send nothing')
    .option('--batch <name>', 'the name of the scores: goes on with a run that was stopped')
    .option('--encoding <label>', 'of the file, such as utf-8 or windows-1252 (found by its bytes)')
    .option('--separator <character>', 'of a CSV file (found by its header)')
    .option('--json', 'print the summary as one JSON value')
    .action(async (file: string, flags: ScoreFlags) => {
      const { runScore } = await import('../run-score.ts');
      finish(await runScore(file, flags, terminal));
    });
};

/** Columns between commas; may be given again. A name that has a comma cannot be given. */
const columnsOption = (text: string, before: readonly string[] = []): readonly string[] =>
  text.split(',').reduce<readonly string[]>((columns, column) => collected(column.trim(), columns), before);

import type { AddCommand } from '../command.ts';
import { collected, numberOption, topicOption } from '../options.ts';
import type { ScoreFlags } from '../score-command.ts';

/** `score FILE`: the sentiment of every text in a file, scored in this process. Each text is paid for once. */
export const addScore: AddCommand = (program, terminal, finish) => {
  program
    .command('score')
    .description(
      'Score the sentiment of every text in a CSV, NDJSON or JSON file; each text is paid for once.',
    )
    .argument('<file>', 'the file of texts; may be gzipped')
    .requiredOption('--text <column>', 'the column that holds the text')
    .option('--id <column>', 'the column that holds the row’s id (default: its line number)')
    .option('--topic <name[=description]>', 'a topic to score; may be repeated', topicOption)
    .option('--instructions <text>', 'additional instructions for the model')
    .option('--model <model>', 'the model (default: the platform’s own)')
    .option('--columns <a,b>', 'columns to copy into the scores', columnsOption)
    .option(
      '--max-calls <n>',
      'send nothing if more calls than this are needed',
      numberOption(0, 1_000_000_000),
    )
    .option('--dry-run', 'report what it would take, but send nothing')
    .option('--batch <name>', 'the name of the batch; the same name again resumes a batch that was stopped')
    .option(
      '--encoding <label>',
      'the encoding of the file, such as utf-8 or windows-1252 (default: detected)',
    )
    .option('--separator <character>', 'the separator of a CSV file (default: detected from its header)')
    .option('--skip-empty', 'leave out rows without a text, which are bad rows otherwise')
    .option(
      '--output <file>',
      'write all rows with their scores: .csv, .tsv, .ndjson or .jsonl, with .gz or without',
    )
    .option('--json', 'print the summary as one JSON value')
    .action(async (file: string, flags: ScoreFlags) => {
      const { runScore } = await import('../run-score.ts');
      finish(await runScore(file, flags, terminal));
    });
};

/** Columns separated by commas; may be repeated. A name that contains a comma cannot be given. */
const columnsOption = (text: string, before: readonly string[] = []): readonly string[] =>
  text.split(',').reduce<readonly string[]>((columns, column) => collected(column.trim(), columns), before);

import { defineCommand } from '../command.ts';
import { collected, numberOption, topicOption } from '../options/options.ts';

/** Columns separated by commas; may be repeated. A name that contains a comma cannot be given. */
const columnsOption = (text: string, before: readonly string[] = []): readonly string[] =>
  text.split(',').reduce<readonly string[]>((columns, column) => collected(column.trim(), columns), before);

/** `score FILE`: the sentiment of every text in a file, scored in this process. Each text is paid for once. */
export const score = defineCommand({
  does: 'Score the sentiment of every text in a CSV, NDJSON or JSON file; each text is paid for once.',
  arguments: [['<file>', 'the file of texts; may be gzipped']],
  required: [['--text <column>', 'the column that holds the text']],
  options: [
    ['--id <column>', 'the column that holds the row’s id (default: its line number)'],
    ['--topic <name[=description]>', 'a topic to score; may be repeated', topicOption],
    ['--instructions <text>', 'additional instructions for the model'],
    ['--model <model>', 'the model (default: the platform’s own)'],
    ['--columns <a,b>', 'columns to copy into the scores', columnsOption],
    ['--max-calls <n>', 'send nothing if more calls than this are needed', numberOption(0, 1_000_000_000)],
    ['--dry-run', 'report what it would take, but send nothing'],
    ['--batch <name>', 'the name of the batch; the same name again resumes a batch that was stopped'],
    ['--encoding <label>', 'the encoding of the file, such as utf-8 or windows-1252 (default: detected)'],
    ['--separator <character>', 'the separator of a CSV file (default: detected from its header)'],
    ['--skip-empty', 'leave out rows without a text, which are bad rows otherwise'],
    [
      '--output <file>',
      'write all rows with their scores: .csv, .tsv, .ndjson or .jsonl, with .gz or without',
    ],
    ['--json', 'print the summary as one JSON value'],
  ],
  examples: [
    'score reviews.csv --text comment --id user --topic delivery --topic "support=the help desk" --dry-run',
    'score reviews.csv --text comment --id user --topic delivery --batch may --max-calls 1000',
    'score reviews.csv --text comment --id user --topic delivery --output scored.csv',
  ],
  async run([file], flags, terminal) {
    const { runScore } = await import('../texts/run-score.ts');
    return runScore(file, flags, terminal);
  },
});

import { OUTPUT_ENDINGS } from '../../text/index.ts';
import type { CommandFamily } from '../command.ts';
import {
  batchOption,
  CSV_STYLE,
  ENCODING,
  filledOption,
  numberOption,
  parserOf,
  repeatable,
  SEPARATOR,
  topicOption,
  WHOLE_ROWS,
  YES,
} from '../options/options.ts';

/** Parses the SHA-256 of a text, and returns it in lower case. */
const textHash = parserOf('a SHA-256, 64 hex digits', (text) =>
  /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined,
);

/** Parses columns separated by commas; the option may be repeated. Names with a comma are not supported. */
const columnsOption = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(',').map((column) => column.trim()),
];

/** Commands that score the sentiment of texts, in batches. */
export const scores = {
  score: {
    description:
      'Score the sentiment of every text in a CSV, NDJSON or JSON file. You pay only once to score the same text.',
    needsStore: false,
    arguments: [['<file>', 'the file of texts; may be gzipped']],
    required: [['--text <column>', 'the column with the text', filledOption]],
    options: [
      ['--id <column>', 'the column with the row’s id (default: the row’s line number)'],
      ['--topic <name[=description]>', 'a topic to score; may be repeated', repeatable(topicOption)],
      ['--instructions <text>', 'additional instructions for the model'],
      ['--model <model>', 'the model (default: the platform’s own)'],
      ['--columns <a,b>', 'columns to copy into the scores', columnsOption],
      [
        '--label <column>',
        'compare the scores with the labels in this column; allowed with one topic or none',
        filledOption,
      ],
      ['--max-calls <n>', 'send nothing if it needs more than n calls', numberOption(0, 1_000_000_000)],
      ['--dry-run', 'report how many calls it needs, but send nothing'],
      [
        '--batch <name>',
        'the name of the batch; using the same name again resumes a batch that was stopped',
        batchOption,
      ],
      ENCODING,
      SEPARATOR,
      WHOLE_ROWS,
      ['--skip-empty', 'leave out rows without a text (default: they count as bad rows)'],
      ['--output <file>', `write all rows with their scores: ${OUTPUT_ENDINGS}`],
      ...CSV_STYLE,
    ],
    examples: [
      'score reviews.csv --text comment --id user --topic delivery --topic "support=the help desk" --dry-run',
      'score reviews.csv --text comment --id user --topic delivery --batch may --max-calls 1000',
      'score reviews.csv --text comment --id user --topic delivery --output scored.csv',
    ],
    load: () => import('../commands/score.ts'),
  },
  batches: {
    description:
      'List the batches of texts, with their status, failures and the time left; or show one batch.',
    arguments: [['[batch]', 'the batch to show, with the first rows that failed', batchOption]],
    examples: ['batches', 'batches may'],
    load: () => import('../commands/batches.ts'),
  },
  forget: {
    description: 'Erase one text, or all texts of a batch, with their scores and cache rows.',
    options: [
      ['--text-hash <hash>', 'the SHA-256 of the text in hex, which is in the parts of the batch', textHash],
      ['--batch <name>', 'the batch, with all its texts', batchOption],
      ['--dry-run', 'only count what would be erased'],
      YES,
    ],
    examples: [
      'forget --batch may --dry-run',
      'forget --batch may',
      'forget --yes --text-hash 0d57f29f8eef9365dbfd4e45528098967ed655efa0ce95494945350bfafbabb0',
    ],
    load: () => import('../commands/forget.ts'),
  },
} as const satisfies CommandFamily;

import {
  type BadRow,
  type InputFound,
  NAMED_BAD_ROWS,
  type Preview,
  type Refusal,
  type Summary,
  scoresFolder,
  summaryKey,
} from '../../jobs/texts/index.ts';
import type { Store } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import {
  andMore,
  counted,
  duration,
  type Found,
  number,
  oddLines,
  shown,
  type Terminal,
} from '../terminal/terminal.ts';

/** The outcome of a batch. `output`: the file that was written, and its rows. */
export const foundSummary = (
  summary: Summary,
  store: Pick<Store, 'location'>,
  output: { readonly file: string; readonly rows: number; readonly about: string } | undefined,
): Found => ({
  json: { ...summary, output: output && { file: output.file, rows: output.rows } },
  words: [
    ...describeSummary(summary, store),
    ...(output === undefined ? [] : [`output: ${output.file}: ${number(output.rows)} rows${output.about}`]),
  ],
  ended: summary.failed + summary.bad === 0 ? 'done' : 'incomplete',
});

function describeSummary(summary: Summary, { location }: Pick<Store, 'location'>): readonly string[] {
  const { batch, rows, scored, failed, bad, erased, cached, calls, paidAgain, tokens, sentiments } = summary;
  const reasoning = tokens.reasoning === 0 ? '' : `, ${number(tokens.reasoning)} for reasoning`;
  return [
    `batch ${batch}: ${number(rows)} rows: ${number(scored)} scored, ${number(failed)} failed, ${number(bad)} bad${erased === 0 ? '' : `, ${number(erased)} erased`}`,
    `calls: ${number(calls)}, ${number(paidAgain)} of them paid again after a lost response; rows from the cache: ${number(cached)}`,
    `tokens: ${number(tokens.input)} in, ${number(tokens.output)} out, ${number(tokens.total)} in total${reasoning}`,
    ...sentimentLines({ overall: sentiments.overall }),
    ...sentimentLines(sentiments.topics),
    ...badLines(summary.badRows, bad),
    `parts: ${summary.parts.length} in ${location}/${scoresFolder(batch)}`,
    `summary: ${location}/${summaryKey(batch)}`,
  ];
}

const sentimentLines = (topics: Summary['sentiments']['topics']) =>
  Object.entries(topics)
    .filter(([, counts]) => Object.keys(counts).length > 0)
    .map(([topic, counts]) => {
      const counted = Object.entries(counts).map(([sentiment, count]) => `${number(count)} ${sentiment}`);
      return `${shown(topic)}: ${counted.join(', ')}`;
    });

const badLines = (bad: readonly BadRow[], all: number) => [
  ...bad
    .slice(0, NAMED_BAD_ROWS)
    .map(
      ({ line, id, fault }) =>
        `  line ${line}${id === undefined ? '' : ` (id ${shown(id)})`}: ${shown(fault)}`,
    ),
  ...andMore(all - NAMED_BAD_ROWS, ' bad rows').map((line) => `  ${line}`),
];

/** Prints why a batch did not start. Throws `UsageError` if the request is at fault. */
export function foundRefusal({ reasons, preview }: Refusal, { err }: Pick<Terminal, 'err'>): Found {
  if (preview === undefined) throw new UsageError(reasons.join('\n'));
  for (const reason of reasons) err(`platform-sync: refused: ${reason}`);
  err('nothing was sent');
  const json = { refused: reasons, preview: forMachines(preview) };
  return { json, words: [], ended: 'incomplete' };
}

/** The calls and time that a batch would take. */
export function foundPreview(
  /** `input`: what the source of a batch was found to be. */
  options: Preview & {
    /** How many of the rows are in the batch of that name already; undefined for a new one. */
    readonly inBatch: number | undefined;
    readonly input: InputFound | undefined;
    /** Why it would be refused. */
    readonly reasons: readonly string[];
    /** Requests a second. */
    readonly rate: number;
  },
): Found {
  const { reasons, input, ...preview } = options;
  const { rows, badRows, bad, texts, cached, calls, seconds, rate, inBatch } = preview;
  const named = bad.map(({ isEmpty: _, ...row }) => row);
  const words = [
    `${number(rows)} rows, ${number(badRows)} of them bad`,
    ...badLines(bad, badRows),
    ...(input === undefined ? [] : describeInput(input)),
    ...(inBatch === undefined
      ? []
      : [`${counted(inBatch, 'row')} in the batch already, ${number(rows - inBatch)} added`]),
    `${number(texts)} distinct texts, ${number(cached)} of them cached`,
    `${number(calls)} calls to make, which take ${duration(seconds)} at ${rate} a second`,
    ...reasons.map((reason) => `would be refused: ${reason}`),
    'nothing was sent',
  ];
  return {
    json: { dryRun: true, ...forMachines(preview), badRows: named, input, refused: reasons },
    words,
    ended: reasons.length === 0 && badRows === 0 ? 'done' : 'incomplete',
  };
}

/** The same names as in a summary: `bad` counts, `badRows` lists. */
const forMachines = ({ badRows, ...preview }: Preview) => ({ ...preview, bad: badRows });

const FORMATS = { csv: 'CSV', ndjson: 'NDJSON', json: 'a JSON array' } as const;

/** What the source of a batch was found to be, with a line for each of the first repeated ids. */
export function describeInput(found: InputFound): readonly string[] {
  const { format, encoding, separator, skipped } = found;
  const { rows = 0, first = [] } = found.repeatedIds ?? {};
  const by =
    separator === undefined ? '' : `, separated by ${separator === '\t' ? 'tabs' : `"${separator}"`}`;
  const left = skipped === 0 ? '' : `; ${counted(skipped, 'row')} without a text skipped`;
  const lines = oddLines(found).map((words) => `; ${words}`);
  const repeated =
    rows === 0 ? '' : `; ${counted(rows, 'row')} ${rows === 1 ? 'has' : 'have'} the id of an earlier row`;
  return [
    `input: ${FORMATS[format]} in ${encoding}${by}${left}${lines.join('')}${repeated}`,
    ...first.map(
      ({ id, lines: [earlier, line] }) => `  line ${line}: the id ${id} is that of line ${earlier}`,
    ),
    ...andMore(rows - first.length).map((line) => `  ${line}`),
  ];
}

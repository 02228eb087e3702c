import { scoresFolder, summaryKey } from '../../jobs/texts/batch/batch.ts';
import { NAMED_BAD_ROWS, type Preview, type Refusal } from '../../jobs/texts/batch/check-batch.ts';
import type { BadRow } from '../../jobs/texts/batch/chunks.ts';
import type { Summary } from '../../jobs/texts/batch/finish-batch.ts';
import type { InputFound } from '../../jobs/texts/rows/read-rows.ts';
import type { Store } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import {
  andMore,
  counted,
  duration,
  exitCodes,
  inJson,
  number,
  shown,
  shownLines,
  type Terminal,
} from '../terminal/terminal.ts';

type Flags = { readonly json?: true };
/** `output`: the file that was written, and its rows. */
type SummaryFlags = Flags & {
  readonly output?: { readonly file: string; readonly rows: number } | undefined;
};
type Output = Pick<Terminal, 'out' | 'err'>;

/** Shows the outcome of a batch, as its summary or in words, and returns the exit code. */
export function showSummary(
  summary: Summary,
  store: Pick<Store, 'location'>,
  { json, output }: SummaryFlags,
  { out }: Output,
): number {
  const written = output === undefined ? {} : { output };
  const lines = [
    describeSummary(summary, store),
    ...(output === undefined ? [] : [`output: ${output.file}: ${number(output.rows)} rows`]),
  ];
  out(json ? inJson({ ...summary, ...written }) : shownLines(lines.join('\n')));
  return summary.failed + summary.bad === 0 ? exitCodes.done : exitCodes.incomplete;
}

function describeSummary(summary: Summary, { location }: Pick<Store, 'location'>): string {
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
  ].join('\n');
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

/** Shows why a batch did not start, and returns the exit code. Throws `UsageError` if the request is at fault. */
export function showRefusal({ reasons, preview }: Refusal, { json }: Flags, { out, err }: Output): number {
  if (preview === undefined) throw new UsageError(reasons.join('\n'));
  if (json) out(inJson({ refused: reasons, preview: forMachines(preview) }));
  for (const reason of reasons) err(`platform-sync: refused: ${reason}`);
  err('nothing was sent');
  return exitCodes.incomplete;
}

/** What a batch would take. `input`: what its source was found to be. */
export type Previewed = Preview & {
  readonly input: InputFound | undefined;
  /** Why it would be refused. */
  readonly reasons: readonly string[];
  /** Requests a second. */
  readonly rate: number;
};

/** Shows what a batch would take, and returns the exit code. */
export function showPreview(
  { reasons, input, ...preview }: Previewed,
  { json }: Flags,
  { out }: Output,
): number {
  const { rows, badRows, bad, texts, cached, calls, seconds, rate } = preview;
  const named = bad.map(({ isEmpty: _, ...row }) => row);
  const words = [
    `${number(rows)} rows, ${number(badRows)} of them bad`,
    ...badLines(bad, badRows),
    ...(input === undefined ? [] : describeInput(input)),
    `${number(texts)} distinct texts, ${number(cached)} of them cached`,
    `${number(calls)} calls to make, which take ${duration(seconds)} at ${rate} a second`,
    ...reasons.map((reason) => `would be refused: ${reason}`),
    'nothing was sent',
  ];
  out(
    json
      ? inJson({ dryRun: true, ...forMachines(preview), badRows: named, input, refused: reasons })
      : shownLines(words.join('\n')),
  );
  return reasons.length === 0 && badRows === 0 ? exitCodes.done : exitCodes.incomplete;
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
  const repeated =
    rows === 0 ? '' : `; ${counted(rows, 'row')} ${rows === 1 ? 'has' : 'have'} the id of an earlier row`;
  return [
    `input: ${FORMATS[format]} in ${encoding}${by}${left}${repeated}`,
    ...first.map(
      ({ id, lines: [earlier, line] }) => `  line ${line}: the id ${id} is that of line ${earlier}`,
    ),
    ...andMore(rows - first.length).map((line) => `  ${line}`),
  ];
}

import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import {
  type BadRow,
  BatchConflictError,
  MAX_LISTED_BAD_ROWS,
  openScoring,
  type Preview,
  type RecognizedInput,
  type Refusal,
  type Summary,
  scoresFolder,
  summaryKey,
  unknownCalls,
} from '../../jobs/texts/index.ts';
import { bulkRequestChecks } from '../../jobs/types/index.ts';
import { costWords, type Money, maxCostWords, moneyFor } from '../../prices.ts';
import type { Session } from '../../session.ts';
import { needed } from '../../settings.ts';
import type { Store } from '../../store/index.ts';
import { type OutputFormat, TextError } from '../../text/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { commandLine } from '../options/command-lines.ts';
import { checkedOutput, checkFile, confirmedEncoding, encodingNote } from '../options/files.ts';
import { openSessionOf } from '../options/from-settings.ts';
import { checkedMessage } from '../options/request-options.ts';
import { createProgress } from '../terminal/progress.ts';
import {
  andMore,
  type CommandResult,
  counted,
  duration,
  inColumns,
  number,
  oddLines,
  shown,
  type Terminal,
} from '../terminal/terminal.ts';

type ComparedLabels = Awaited<ReturnType<Awaited<ReturnType<typeof openScoring>>['compareLabels']>>;

type ScoreFlags = FlagsOf<'score'>;

/**
 * Scores every text of a file, or with `--dry-run` reports how many calls that needs. You pay once for identical
 * texts.
 */
export default (async ([file], typed, terminal) => {
  const session = openSessionOf(terminal);
  await checkFile(file);
  const outputFormat = await checkedOutput(file, typed.output);
  const batch = typed.batch ?? batchNameOf(file, Date.now());
  needed(session.settings, 'SYNC_TABLE');
  const encoding = await confirmedEncoding(file, typed.encoding, terminal);
  const flags = { ...typed, encoding, file, outputFormat, labels: labelsOf(typed) };
  const scoring = await openScoring(session, {
    batch,
    request: requestOf(flags),
    open: () => createReadStream(file),
    rows: rowsOptions(file, flags),
    maxCalls: flags.maxCalls,
    signal: terminal.signal,
  });
  try {
    if (flags.labels !== undefined) await scoring.checkLabels(flags.labels);
    return await (flags.dryRun
      ? foundPreview(await scoring.preview(), session.settings.PLATFORM_PRICES)
      : score(batch, { scoring, session }, flags, terminal));
  } catch (error) {
    throw asUsageOf(error);
  }
}) satisfies Run<'score'>;

/**
 * The labels to compare with. Throws `UsageError` if several topics are scored, since the labels belong to one
 * topic.
 */
function labelsOf({ label: column, topic = [] }: ScoreFlags) {
  if (column === undefined) return undefined;
  const names = topic.map(({ topic: name }) => name);
  if (names.length > 1)
    throw new UsageError(
      `--label ${column}: the labels belong to one topic, so expected at most one --topic, got ${names.join(', ')}`,
    );
  return { column, topic: names[0] ?? null };
}

/** Maximum characters of the file's name in the name of a batch. The time adds 17 characters. */
const MAX_FILE_NAME_LENGTH = 80;

/** The default name of a batch, from its file and the current time: `reviews-20261121T091500Z`. */
function batchNameOf(file: string, nowMs: number): string {
  const stem = basename(file).replace(/(\.(csv|tsv|ndjson|jsonl))?(\.gz)?$/i, '');
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const name = stem
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_FILE_NAME_LENGTH);
  return `${name || 'texts'}-${time}`;
}

/** The options for reading the rows of a file. */
const rowsOptions = (
  file: string,
  { text, id, columns, encoding, separator, wholeRows, skipEmpty }: ScoreFlags,
) => ({ name: file, text, id, columns, encoding, separator, wholeRows, skipEmpty });

/** The request that is sent for each text. Throws `UsageError` with every fault, before anything is sent. */
function requestOf({ topic: topics, instructions, model }: ScoreFlags) {
  const request = {
    ...(topics === undefined ? {} : { topics: [...topics] }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
  };
  return checkedMessage(bulkRequestChecks, request, TYPED_AS);
}

/** The options that set the fields of a bulk request. */
const TYPED_AS = { topics: '--topic', instructions: '--instructions', model: '--model' };

type ScoredFlags = ScoreFlags & {
  readonly file: string;
  readonly outputFormat: OutputFormat | undefined;
  readonly labels: ReturnType<typeof labelsOf>;
};

type Parts = { readonly scoring: Awaited<ReturnType<typeof openScoring>>; readonly session: Session };

async function score(
  batch: string,
  { scoring, session }: Parts,
  flags: ScoredFlags,
  terminal: Terminal,
): Promise<CommandResult> {
  const { err } = terminal;
  const resumeCommand = shown(resumeCommandOf(flags, batch));
  const nouns = ['rows', 'calls'] as const;
  const progress = createProgress('score', { ...terminal, callCounts: session.callCounts, nouns });
  try {
    const scored = await scoring.score({
      onInput(found) {
        err(`batch ${batch}; to resume it after a stop: ${resumeCommand}`);
        for (const line of describeInput(found)) err(shown(line));
      },
      onProgress: ({ rowsScored, rows }) => progress.update({ records: rowsScored, total: rows }),
    });
    progress.end();
    if (scored.kind === 'refused') return foundRefusal(scored, terminal);
    const output = await writeOutput(scored.summary, scoring, flags, terminal);
    const labels = flags.labels && (await scoring.compareLabels(scored.summary, flags.labels));
    return foundSummary(scored.summary, scoring.store, output, {
      prices: session.settings.PLATFORM_PRICES,
      labels,
    });
  } catch (error) {
    progress.end();
    if (error instanceof TextError || error instanceof BatchConflictError) throw error;
    const { calls, scored, tokens } = scoring.paid;
    err(
      `calls of this run: ${number(calls)}; ${number(scored)} of them scored a text, which used ${number(tokens)} tokens`,
    );
    const { calls: paid, unknown } = session.paid;
    for (const line of costWords(moneyFor(session.settings.PLATFORM_PRICES, paid, unknown))) err(line);
    err(`stopped; to resume: ${resumeCommand}`);
    throw error;
  }
}

/** The command line that resumes the batch. Texts that have been scored are not paid for again. */
function resumeCommandOf({ file, ...flags }: ScoredFlags, batch: string): string {
  const { skipEmpty, text, id, instructions, model, maxCalls, separator, wholeRows } = flags;
  const { output, csvFor, csvSafe, label } = flags;
  // An encoding that was detected needs no option.
  const encoding = flags.encoding === 'utf-8' ? undefined : flags.encoding;
  const topic = flags.topic?.map(({ topic: name, description }) =>
    description === undefined ? name : `${name}=${description}`,
  );
  const columns = flags.columns?.join(',');
  return commandLine(['score', file], {
    skipEmpty,
    text,
    id,
    topic,
    label,
    instructions,
    model,
    columns,
    maxCalls,
    encoding,
    separator,
    wholeRows,
    output,
    csvFor,
    csvSafe,
    batch,
  });
}

/** Writes the file of `--output`, if the option was given. */
async function writeOutput(
  summary: Summary,
  scoring: Parts['scoring'],
  flags: ScoredFlags,
  { err }: Terminal,
) {
  const { output: file, outputFormat: format, file: sourceFile, topic = [], csvFor, csvSafe } = flags;
  if (file === undefined || format === undefined) return undefined;
  err(shown(`all rows are scored; writing ${file}`));
  const topics = topic.map(({ topic: name }) => name);
  const { rows, encoding } = await scoring.writeOutput(summary, {
    csvFor,
    csvSafe,
    file,
    sourceFile,
    format,
    topics,
  });
  return { file, rows, about: format.format === 'csv' ? encodingNote(encoding, flags.encoding) : '' };
}

/** Turns the error that the rows of the batch differ from the rows of the file into a `UsageError`. */
function asUsageOf(error: unknown): unknown {
  if (error instanceof BatchConflictError)
    return new UsageError(`--batch: ${error.message}`, { cause: error });
  return error;
}

/** The result of the command for a batch. `output`: the file that was written, and its number of rows. */
const foundSummary = (
  summary: Summary,
  store: Pick<Store, 'location'>,
  output: { readonly file: string; readonly rows: number; readonly about: string } | undefined,
  { prices, labels }: { readonly prices: Prices; readonly labels: ComparedLabels | undefined },
): CommandResult => ({
  json: {
    ...summary,
    cost: costOfBatch(summary, prices),
    labels,
    output: output && { file: output.file, rows: output.rows },
  },
  words: [
    ...describeSummary(summary, store, costOfBatch(summary, prices)),
    ...labelWords(labels),
    ...(output === undefined ? [] : [`output: ${output.file}: ${number(output.rows)} rows${output.about}`]),
  ],
  ended: summary.failed + summary.bad === 0 ? 'done' : 'incomplete',
});

/**
 * How many labels agree with the scores, and a table of counts with a row for each label and a column for each score.
 */
function labelWords(labels: ComparedLabels | undefined): readonly string[] {
  if (labels === undefined) return [];
  const { column, topic, compared, agreed, withoutLabel, withoutScore, otherLabel, otherLabels } = labels;
  const share = compared === 0 ? '' : ` (${Math.round((1_000 * agreed) / compared) / 10}%)`;
  const others = otherLabels.map((label) => JSON.stringify(shown(label)));
  const apart = [
    ...(withoutLabel === 0 ? [] : [`${counted(withoutLabel, 'row')} without a label`]),
    ...(withoutScore === 0 ? [] : [`${counted(withoutScore, 'row')} without a score`]),
    ...(otherLabel === 0 ? [] : [`${counted(otherLabel, 'row')} with another label: ${others.join(', ')}`]),
  ];
  const values = [
    ...new Set(Object.values(labels.confusion).flatMap((counts) => Object.keys(counts))),
  ].sort();
  const rows = Object.entries(labels.confusion).map(([label, counts]) => [
    label,
    ...values.map((value) => number(counts[value] ?? 0)),
  ]);
  const of = topic === null ? '' : ` of ${shown(topic)}`;
  return [
    [
      `labels${of} in ${shown(column)}: ${number(agreed)} of ${number(compared)} agree${share}`,
      ...apart,
    ].join('; '),
    ...(rows.length === 0 ? [] : inColumns(['LABEL', ...values], rows)),
  ];
}

type Prices = Parameters<typeof moneyFor>[0];

/** What a batch has cost in total. */
export const costOfBatch = (counts: Pick<Summary, 'calls' | 'scored' | 'cached'>, prices: Prices) =>
  moneyFor(prices, { score: counts.calls }, { score: unknownCalls(counts) });

function describeSummary(
  summary: Summary,
  { location }: Pick<Store, 'location'>,
  cost: Money | undefined,
): readonly string[] {
  const { batch, rows, scored, failed, bad, erased, cached, calls, paidAgain, tokens, sentiments } = summary;
  const reasoning = tokens.reasoning === 0 ? '' : `, ${number(tokens.reasoning)} for reasoning`;
  return [
    `batch ${batch}: ${number(rows)} rows: ${number(scored)} scored, ${number(failed)} failed, ${number(bad)} bad${erased === 0 ? '' : `, ${number(erased)} erased`}`,
    `calls: ${number(calls)}, ${number(paidAgain)} of them paid again after a lost response; rows from the cache: ${number(cached)}`,
    ...costWords(cost),
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
    .slice(0, MAX_LISTED_BAD_ROWS)
    .map(
      ({ line, id, fault }) =>
        `  line ${line}${id === undefined ? '' : ` (id ${shown(id)})`}: ${shown(fault)}`,
    ),
  ...andMore(all - MAX_LISTED_BAD_ROWS, ' bad rows').map((line) => `  ${line}`),
];

/** Prints why a batch did not start. Throws `UsageError` if the options are wrong. */
function foundRefusal({ reasons, preview }: Refusal, { err }: Pick<Terminal, 'err'>): CommandResult {
  if (preview === undefined) throw new UsageError(reasons.join('\n'));
  for (const reason of reasons) err(`platform-sync: refused: ${reason}`);
  err('nothing was sent');
  const json = { refused: reasons, preview: asJson(preview) };
  return { json, words: [], ended: 'incomplete' };
}

/** The result of a dry run: the calls and the time that a batch needs. */
function foundPreview(
  /** `input`: the format and encoding that were detected; undefined if the file could not be read so far. */
  options: Preview & {
    /** How many of the rows are already in the batch; undefined for a new batch. */
    readonly inBatch: number | undefined;
    readonly input: RecognizedInput | undefined;
    /** Why the batch would be refused. */
    readonly reasons: readonly string[];
    /** The rate in requests a second. */
    readonly rate: number;
  },
  prices?: Prices,
): CommandResult {
  const { reasons, input, ...preview } = options;
  const cost = moneyFor(prices, { score: preview.calls });
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
    ...maxCostWords(cost),
    ...reasons.map((reason) => `would be refused: ${reason}`),
    'nothing was sent',
  ];
  return {
    json: { dryRun: true, ...asJson(preview), badRows: named, input, cost, refused: reasons },
    words,
    ended: reasons.length === 0 && badRows === 0 ? 'done' : 'incomplete',
  };
}

/** Renames the count of bad rows to `bad`: in JSON, as in a summary, `badRows` is the list of them. */
const asJson = ({ badRows, ...preview }: Preview) => ({ ...preview, bad: badRows });

const FORMATS = { csv: 'CSV', ndjson: 'NDJSON', json: 'a JSON array' } as const;

/** The detected format and encoding of the input, with a line for each of the first repeated ids. */
function describeInput(found: RecognizedInput): readonly string[] {
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

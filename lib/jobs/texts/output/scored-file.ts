import { readAhead, shortened } from '../../../base/index.ts';
import { printJson } from '../../../base/json/index.ts';
import { missingObject, type Store } from '../../../store/index.ts';
import {
  type CellOptions,
  type CsvForm,
  type CsvOptions,
  csvOutput,
  type OutputFormat,
  writeTextFile,
} from '../../../text/index.ts';
import { parsePart, type ScoredRow } from '../batch/chunk-objects.ts';
import type { Summary } from '../batch/finish-batch.ts';
import { textHashOf } from '../cache/score-cache.ts';
import {
  cellText,
  type InputRecord,
  openRows,
  type RowsOptions,
  type RowWithRecord,
} from '../rows/read-rows.ts';
import { csvLines, ndjsonLines, parseMembers } from './added-columns.ts';

type ScoredFileOptions = CsvOptions & {
  readonly file: string;
  /** The file with the rows: the output file gets its permissions. */
  readonly sourceFile?: string | undefined;
  readonly format: OutputFormat;
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly rows: RowsOptions & { readonly skipEmpty?: boolean | undefined };
  readonly topics: readonly string[];
  readonly store: Pick<Store, 'get' | 'location'>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Writes the rows of an input with their scores. Returns the number of rows and the encoding. Throws if the input has
 * changed since it was scored.
 */
export async function writeScoredFile(
  summary: Summary,
  options: ScoredFileOptions,
): Promise<{ readonly rows: number; readonly encoding: string }> {
  const { file, sourceFile, format, signal } = options;
  const source = await describeInput(options);
  const form = csvOutput(format, source, options);
  const counts = { rows: 0 };
  const lines = () => linesOf(summary, options, { ...form, names: source.names, counts });
  const isCsv = format.format === 'csv';
  const { encoding, isMarked } = isCsv ? form : {};
  const { isGzipped } = format;
  const written = await writeTextFile(file, lines, { isGzipped, encoding, isMarked, sourceFile, signal });
  return { rows: counts.rows, encoding: written };
}

async function* linesOf(
  summary: Summary,
  options: ScoredFileOptions,
  parts: CsvForm & CellOptions & { readonly names: readonly string[]; readonly counts: { rows: number } },
): AsyncGenerator<string> {
  const { names, counts, ...form } = parts;
  const { open: read, rows: rowsOptions, topics, format } = options;
  await using source = await openRows(read(), rowsOptions);
  const columns = format.format === 'csv' ? scoreColumns(topics) : SCORE_MEMBER;
  counts.rows = 0;
  async function* rows() {
    for await (const { record, score } of joinedRows(
      source.rows(),
      scoresOf(summary, options),
      rowsOptions.skipEmpty,
    )) {
      counts.rows += 1;
      yield { record, added: [...columns.values()].map((textIn) => textIn(score)) };
    }
  }
  const added = [...columns.keys()];
  if (format.format === 'ndjson') yield* ndjsonLines(rows(), { names, added });
  else yield* csvLines(rows(), { ...form, names, added });
}

const changedError = (line: number, got: string) =>
  new Error(
    `line ${line}: the file has changed since it was scored: expected the row that was scored, got ${got}`,
  );

/**
 * Pairs rows with their scores, which have the same order. A row that was skipped has no score. Throws if a pair
 * does not match.
 */
async function* joinedRows(
  rows: AsyncIterable<RowWithRecord>,
  scores: AsyncIterator<ScoredRow>,
  skipEmpty: boolean | undefined,
) {
  for await (const { row, record } of rows) {
    if (skipEmpty && 'fault' in row && row.isEmpty) {
      yield { record, score: undefined };
      continue;
    }
    const { value: score, done } = await scores.next();
    if (done) throw changedError(row.line, 'a row after the last row');
    checkPair(row, score);
    yield { record, score };
  }
  const more = await scores.next();
  if (!more.done) throw changedError(more.value.line, 'no such row');
}

function checkPair(row: RowWithRecord['row'], { line, id, textHash }: ScoredRow): void {
  if (row.line !== line) throw changedError(line, `a row on line ${row.line}`);
  if (row.id !== id) throw changedError(line, 'another id');
  if ('text' in row && textHash !== undefined && textHashOf(row.text) !== textHash)
    throw changedError(line, 'another text');
}

const CONCURRENT_READS = 8;

async function* scoresOf(
  { parts }: Summary,
  { store, signal }: Pick<ScoredFileOptions, 'store' | 'signal'>,
): AsyncGenerator<ScoredRow> {
  const read = async (key: string, aborted: AbortSignal) => {
    const stored = await store.get(key, { signal: aborted });
    if (stored === undefined) throw missingObject(store, key, 'a part of the scores');
    return parsePart(key, stored.body);
  };
  const items = parts.map(({ key }) => key);
  for await (const rows of readAhead({ items, read, concurrency: CONCURRENT_READS, signal })) yield* rows;
}

type Column = readonly [string, (score: ScoredRow | undefined) => string];

const scoreColumns = (topics: readonly string[]): ReadonlyMap<Column[0], Column[1]> =>
  new Map([
    ['sentiment', (score) => textOf(score?.sentiment)],
    ...topics.map((topic): Column => [`sentiment_${topic}`, (score) => textOf(topicsOf(score).get(topic))]),
    ['model', (score) => textOf(score?.model)],
    ['error', errorOf],
  ]);

const SCORE_MEMBER: ReadonlyMap<Column[0], Column[1]> = new Map([
  [
    'score',
    (score) => {
      if (score === undefined) return 'null';
      const { line, sentiment, topicSentiments, model } = score;
      const error = errorOf(score);
      return printJson({ line, sentiment, topicSentiments, model, ...(error === '' ? {} : { error }) });
    },
  ],
]);

const topicsOf = (score: ScoredRow | undefined) =>
  new Map<string, unknown>(Object.entries(score?.topicSentiments ?? {}));

const textOf = (value: unknown) =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Why a row has no score, with its line; empty if it has a score, or was skipped. */
function errorOf(score: ScoredRow | undefined): string {
  const why = score?.error ?? (score?.erased ? 'forgotten' : undefined);
  return why === undefined ? '' : `line ${score?.line}: ${why}`;
}

/** A file may have at most this many columns. Files have more if their objects use values, such as ids, as field names. */
const MAX_NAMES = 2_000;

/**
 * The format of an input, with the names that the added columns of a scored file must not use: the columns of a CSV, or
 * the field names of all objects. In NDJSON, only names that could be mistaken for names of scores count.
 */
async function describeInput({ open: read, rows: options, format: { format } }: ScoredFileOptions) {
  await using source = await openRows(read(), options);
  if (source.format.csv !== undefined) return { ...source.format, names: source.format.csv.names };
  const names = new Set<string>();
  for await (const { record } of source.rows()) {
    for (const name of typeof record === 'string' ? parseMembers(record).keys() : [])
      if (format === 'csv' || name.startsWith('score')) names.add(name);
    if (names.size > MAX_NAMES)
      throw new Error(
        `the file has more than ${MAX_NAMES} different field names: choose NDJSON as the output format`,
      );
  }
  return { ...source.format, names: [...names] };
}

/** The labels with which scores are compared. */
export type Labels = {
  /** The column of the labels. */
  readonly column: string;
  /** The topic whose sentiments are compared with the labels; null for the sentiments of whole texts. */
  readonly topic: string | null;
};

/** The values that a label may have, in addition to the values of the batch's scores. */
const KNOWN_LABELS = ['positive', 'negative', 'neutral', 'not_applicable'];

/** The value of a row that was scored without a sentiment, such as a row whose topic the platform left out. */
const NO_VALUE = 'none';

const MAX_LISTED = 20;
const MAX_NAME_LENGTH = 40;

/** A label or value in the spelling that is compared: `Not applicable` becomes `not_applicable`. */
const normalized = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');

type LabelOptions = Labels &
  Pick<Parameters<typeof writeScoredFile>[1], 'open' | 'rows' | 'store' | 'signal'>;

/**
 * Compares the scores of a batch with the labels of its input: how many agree, and for each label how many rows got
 * each value (`confusion`). Rows without a label, without a score, or with an unknown label are counted separately.
 * Makes no call. Throws if the input has changed since it was scored.
 */
export async function compareLabels(summary: Summary, options: LabelOptions) {
  const { sentiments } = summary;
  const { column, topic, rows: rowsOptions } = options;
  const known = topic === null ? sentiments.overall : (sentiments.topics[topic] ?? {});
  const values = new Set([...KNOWN_LABELS, ...Object.keys(known)]);
  const confusion: Record<string, Record<string, number>> = {};
  const counts = { compared: 0, agreed: 0, withoutLabel: 0, withoutScore: 0, otherLabel: 0 };
  const otherLabels = new Set<string>();
  await using source = await openRows(options.open(), rowsOptions);
  const at = source.format.csv?.names.indexOf(column) ?? -1;
  const labelIn = (record: InputRecord = '') =>
    typeof record === 'string' ? cellText(parseMembers(record).get(column) ?? null) : (record[at] ?? '');
  for await (const { record, score } of joinedRows(
    source.rows(),
    scoresOf(summary, options),
    rowsOptions.skipEmpty,
  )) {
    const text = labelIn(record);
    const label = normalized(text);
    const { sentiment, topicSentiments } = score ?? {};
    const isScored = score !== undefined && score.error === undefined && !score.erased;
    const found = topic === null ? sentiment : new Map(Object.entries(topicSentiments ?? {})).get(topic);
    if (label === '') counts.withoutLabel += 1;
    else if (!values.has(label)) {
      counts.otherLabel += 1;
      if (otherLabels.size < MAX_LISTED) otherLabels.add(shortened(text.trim(), MAX_NAME_LENGTH));
    } else if (!isScored) counts.withoutScore += 1;
    else {
      const value = typeof found === 'string' ? normalized(found) : NO_VALUE;
      counts.compared += 1;
      counts.agreed += value === label ? 1 : 0;
      const ofLabel = confusion[label] ?? {};
      confusion[label] = ofLabel;
      ofLabel[value] = (ofLabel[value] ?? 0) + 1;
    }
  }
  return { column, topic, ...counts, otherLabels: [...otherLabels], confusion };
}

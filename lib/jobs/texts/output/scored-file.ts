import { printJson } from '../../../base/index.ts';
import type { Store } from '../../../store/index.ts';
import type { Summary } from '../batch/finish-batch.ts';
import type { ScoredRow } from '../batch/part.ts';
import { openRows, type RowsOptions } from '../rows/read-rows.ts';
import { csvLines, membersOf, ndjsonLines } from './added-columns.ts';
import { joinedRows, scoresOf } from './joined-rows.ts';
import { type OutputFormat, writeTextFile } from './text-file.ts';

export type ScoredFileOptions = {
  readonly file: string;
  readonly format: OutputFormat;
  /** Opens the source of the texts from its beginning. */
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly rows: RowsOptions & { readonly skipEmpty?: boolean | undefined };
  readonly topics: readonly string[];
  readonly store: Pick<Store, 'get' | 'location'>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Writes the rows of a source with their scores, once their batch has ended; returns how many. The file appears complete
 * or not at all. Memory does not grow with the rows. Throws `SourceChangedError`, and what the file system throws.
 */
export async function writeScoredFile(summary: Summary, options: ScoredFileOptions): Promise<number> {
  const { file, format, signal } = options;
  const counts = { rows: 0 };
  await writeTextFile(file, linesOf(summary, options, counts), { isGzipped: format.isGzipped, signal });
  return counts.rows;
}

async function* linesOf(
  summary: Summary,
  { open: read, rows: options, topics, store, format, signal }: ScoredFileOptions,
  counts: { rows: number },
): AsyncGenerator<string> {
  const names = await namesOf(read, options, format);
  await using source = await openRows(read(), options);
  const columns = format.format === 'csv' ? scoreColumns(topics) : SCORE_MEMBER;
  async function* rows() {
    for await (const { record, score } of joinedRows(
      source.rows(),
      scoresOf(summary, store, signal),
      options,
    )) {
      counts.rows += 1;
      yield { record, added: [...columns.values()].map((textIn) => textIn(score)) };
    }
  }
  const added = [...columns.keys()];
  if (format.format === 'ndjson') return yield* ndjsonLines(rows(), { names, added });
  const separator = format.isTabbed ? '\t' : (source.format.separator ?? ',');
  yield* csvLines(rows(), { names, added, separator, isMarked: source.format.isMarked });
}

/** What a column, or a member, holds of a score; undefined for a row that was left out. */
type Columns = ReadonlyMap<string, (score: ScoredRow | undefined) => string>;

/** What scores add to a CSV. */
const scoreColumns = (topics: readonly string[]): Columns =>
  new Map([
    ['sentiment', (score) => textOf(score?.sentiment)],
    ...topics.map(topicColumn),
    ['model', (score) => textOf(score?.model)],
    ['error', errorOf],
  ]);

/** What a score adds to an object of NDJSON. */
const SCORE_MEMBER: Columns = new Map([
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

const topicColumn = (topic: string): readonly [string, (score: ScoredRow | undefined) => string] => [
  `sentiment_${topic}`,
  (score) => textOf(ofTopic(score, topic)),
];

const textOf = (value: unknown) =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

const ofTopic = (score: ScoredRow | undefined, topic: string): unknown =>
  new Map<string, unknown>(Object.entries(score?.topicSentiments ?? {})).get(topic);

/** Why a row has no score, with the line that it is on; empty if it has one, or was left out. */
function errorOf(score: ScoredRow | undefined): string {
  const why = score?.error ?? (score?.erased ? 'forgotten' : undefined);
  return why === undefined ? '' : `line ${score?.line}: ${why}`;
}

/** More names than any table has columns: objects whose names are values, such as ids, would be a column each. */
const MOST_NAMES = 2_000;

/**
 * The names of a CSV's columns; of JSON objects those of all members, in the order in which they come first. NDJSON only
 * needs those that its own might have.
 */
async function namesOf(
  read: () => AsyncIterable<Uint8Array>,
  options: RowsOptions,
  { format }: OutputFormat,
): Promise<readonly string[]> {
  await using source = await openRows(read(), options);
  if (source.format.names !== undefined) return source.format.names;
  const names = new Set<string>();
  for await (const { record } of source.rows()) {
    if (record.kind !== 'json') continue;
    for (const name of membersOf(record.text).keys())
      if (format === 'csv' || name.startsWith('score')) names.add(name);
    if (names.size > MOST_NAMES)
      throw new Error(
        `expected at most ${MOST_NAMES} names in the objects of a file, got more: write NDJSON`,
      );
  }
  return [...names];
}

import type { Store } from '../../../store/index.ts';
import type { Summary } from '../batch/finish-batch.ts';
import { openRows, type RowsOptions } from '../rows/read-rows.ts';
import { csvOutput, membersOf } from './csv-output.ts';
import { joinedRows, scoresOf } from './joined-rows.ts';
import { ndjsonOutput } from './ndjson-output.ts';
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
  async function* counted() {
    for await (const row of joinedRows(source.rows(), scoresOf(summary, store, signal), options)) {
      counts.rows += 1;
      yield row;
    }
  }
  if (format.format === 'ndjson') return yield* ndjsonOutput(counted(), { names });
  const separator = format.isTabbed ? '\t' : (source.format.separator ?? ',');
  yield* csvOutput(counted(), { format: source.format, names, topics, separator });
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

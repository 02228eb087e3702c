import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorCode } from '../../../store/error-code.ts';
import type { Store } from '../../../store/store.ts';
import type { Summary } from '../batch/finish-batch.ts';
import { openRows, type RowsOptions } from '../rows/read-rows.ts';
import { csvOutput, membersOf } from './csv-output.ts';
import { joinedRows, scoresOf } from './joined-rows.ts';
import { ndjsonOutput } from './ndjson-output.ts';

/** The formats of a file of rows with their scores, by its ending. */
export type OutputFormat = {
  readonly format: 'csv' | 'ndjson';
  readonly isTabbed: boolean;
  readonly isGzipped: boolean;
};

/** The format that the name of a file says: `.csv`, `.tsv`, `.ndjson`, `.jsonl`, and `.gz` after it. */
export function outputFormat(file: string): OutputFormat | undefined {
  const [, ending, gz] = /\.(csv|tsv|ndjson|jsonl)(\.gz)?$/i.exec(file) ?? [];
  if (ending === undefined) return undefined;
  const isCsv = /^[ct]sv$/i.test(ending);
  return { format: isCsv ? 'csv' : 'ndjson', isTabbed: /^tsv$/i.test(ending), isGzipped: gz !== undefined };
}

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
  const partial = `${file}.${process.pid}.partial`;
  const counts = { rows: 0 };
  try {
    const handle = await open(partial, 'w');
    const lines = Readable.from(inBlocks(linesOf(summary, options, counts)));
    const stages = format.isGzipped ? [createGzip()] : [];
    // Flushed, since the name must not appear before the bytes are safe.
    const target = handle.createWriteStream({ flush: true });
    await pipeline([lines, ...stages, target], signal === undefined ? {} : { signal });
    await rename(partial, file);
    return counts.rows;
  } catch (error) {
    await rm(partial, { force: true });
    const code = errorCode(error);
    // Of the file system: its own message may not name the file.
    if (error instanceof Error && 'syscall' in error && code !== undefined)
      throw new Error(`${file}: expected a file that can be written, got ${code}`, { cause: error });
    throw error;
  }
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

const BLOCK_CHARACTERS = 65_536;

/** Joins lines, since a write for each would take most of the time. */
async function* inBlocks(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held = '';
  for await (const line of lines) {
    held += line;
    if (held.length < BLOCK_CHARACTERS) continue;
    yield Buffer.from(held);
    held = '';
  }
  if (held !== '') yield Buffer.from(held);
}

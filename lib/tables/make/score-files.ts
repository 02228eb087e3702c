import { createHash } from 'node:crypto';
import { findRows } from '../../jobs/results/part-rows.ts';
import { readAhead } from '../../snapshot/sources/read-ahead.ts';
import type { Store } from '../../store/store.ts';
import { missingObject, StoredObjectError } from '../../store/stored-json.ts';
import { SourceChangedError } from './make-folder.ts';
import type { LinesToMake, PlacedLine, Report } from './parquet-of-lines.ts';
import type { BatchParts, ScorePart } from './score-parts.ts';

export type ScoreFilesOptions = {
  readonly store: Store;
  /** Names what a file depends on besides the parts. */
  readonly format: string;
  readonly signal?: AbortSignal | undefined;
};

/** The chunks of one file: each has at most a hundred texts. */
const CHUNKS_OF_FILE = 500;

/** How many parts are read at the same time. */
const CONCURRENCY = 16;

/** The files of a batch: many small parts are one, and a chunk is always in the same one. */
export function* scoreFiles(options: ScoreFilesOptions, { parts }: BatchParts): Generator<LinesToMake> {
  for (let first = 0; first < parts.length; first += CHUNKS_OF_FILE) {
    const items = parts.slice(first, first + CHUNKS_OF_FILE);
    // The name of a part has its hash.
    const named = [options.format, ...items.map(({ key }) => key)].join('\n');
    yield {
      of: createHash('sha256').update(named).digest('hex'),
      bytes: items.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      lines: (report) => readParts(items, { ...options, report }),
    };
  }
}

async function* readParts(
  items: readonly ScorePart[],
  { store, signal, report }: ScoreFilesOptions & { readonly report: Report },
): AsyncGenerator<PlacedLine> {
  const bodies = readAhead({
    items,
    concurrency: CONCURRENCY,
    signal,
    read: async ({ key }, aborted) => ({ key, rows: await rowsOf(store, key, { signal: aborted, report }) }),
  });
  for await (const { key, rows } of bodies)
    for (const [index, json] of rows.entries()) yield { json, place: `${key}, line ${index + 1}` };
}

/** The rows of a part; none, and reported, if it is missing or damaged. */
async function rowsOf(
  store: Store,
  key: string,
  { signal, report }: { readonly signal: AbortSignal; readonly report: Report },
): Promise<readonly Buffer[]> {
  try {
    const rows = await findRows(store, key, signal);
    if (rows !== undefined) return rows;
    // Another one has replaced it.
    if (report === undefined) throw new SourceChangedError(key);
    throw missingObject(store, key, 'a part');
  } catch (error) {
    if (report === undefined || !(error instanceof StoredObjectError)) throw error;
    report(error.message);
    return [];
  }
}

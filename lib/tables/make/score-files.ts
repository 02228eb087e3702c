import { createHash } from 'node:crypto';
import { findRows } from '../../jobs/results/part-rows.ts';
import { lineOf } from '../../snapshot/changes/line-reader.ts';
import { readAhead } from '../../snapshot/sources/read-ahead.ts';
import type { Store } from '../../store/store.ts';
import { type FileToMake, SourceChangedError } from './make-folder.ts';
import type { PlacedLine } from './parquet-of-lines.ts';
import type { BatchParts, ScorePart } from './score-parts.ts';

/** A file, and the parts that go into it. */
export type ScoreFile = FileToMake & {
  /** What goes in. Throws `SourceChangedError` if something is gone that was there before. */
  readonly lines: () => AsyncIterable<PlacedLine>;
  readonly parts: readonly ScorePart[];
};

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
export function* scoreFiles(options: ScoreFilesOptions, { parts }: BatchParts): Generator<ScoreFile> {
  for (let first = 0; first < parts.length; first += CHUNKS_OF_FILE) {
    const items = parts.slice(first, first + CHUNKS_OF_FILE);
    // The name of a part has its hash.
    const named = [options.format, ...items.map(({ key }) => key)].join('\n');
    yield {
      of: createHash('sha256').update(named).digest('hex'),
      lines: () => readParts(items, options),
      parts: items,
    };
  }
}

async function* readParts(
  items: readonly ScorePart[],
  { store, signal }: ScoreFilesOptions,
): AsyncGenerator<PlacedLine> {
  const bodies = readAhead({
    items,
    concurrency: CONCURRENCY,
    signal,
    read: async (part, aborted) => ({ part, rows: await findRows(store, part.key, aborted) }),
  });
  for await (const { part, rows } of bodies) {
    // Another one has replaced it.
    if (rows === undefined) throw new SourceChangedError(part.key);
    let number = 0;
    for (const line of rows) {
      number += 1;
      yield { line: lineOf(line), place: `${part.key}, line ${number}` };
    }
  }
}

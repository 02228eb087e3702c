import { shortened } from '../../json/faults.ts';
import { type LastRun, lastRuns } from '../../model/stored/last-runs.ts';
import { createLineKey } from '../../snapshot/changes/line-key.ts';
import { type LineReader, readLines } from '../../snapshot/changes/line-reader.ts';
import type { Part } from '../../snapshot/manifest.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { ToolError } from './tool.ts';

/** What is published last of some sources. */
export type Published = {
  /** At least one. */
  readonly runs: readonly LastRun[];
  /** What is damaged, in words. */
  readonly faults: readonly string[];
};

const MOST_FAULTS = 5;
const LONGEST_FAULT = 300;

/** The last published runs of these sources. Throws `ToolError` that says what to do if there are none. */
export async function publishedOf(store: Store, wanted: readonly Source[]): Promise<Published> {
  const read = async () => {
    const faults: string[] = [];
    const { runs } = await lastRuns(store, wanted, (fault) => faults.push(shortened(fault, LONGEST_FAULT)));
    return { runs, faults };
  };
  const { runs, faults } = await readAgain(read, (found) => found.faults);
  if (runs.length > 0) return { runs, faults: faults.slice(0, MOST_FAULTS) };
  if (faults.length > 0) throw new ToolError(faults.slice(0, MOST_FAULTS).join('\n'));
  throw new ToolError(
    `nothing of ${wanted.join(', ')} has been published in ${store.location}: check SYNC_STORE, or take a snapshot with platform-sync snapshot ${wanted[0]}`,
  );
}

/** A line of a part with its record's key, as long as the next one is not read. */
export type StoredRecord = { readonly key: string; readonly reader: LineReader };

/** The records of parts, in their order. Throws `StoredObjectError` that names a damaged part. */
export async function* recordsIn(
  parts: readonly Part[],
  { store, source, signal }: { readonly store: Store; readonly source: Source; readonly signal: AbortSignal },
): AsyncGenerator<StoredRecord> {
  const reader = readLines({ store, parts, signal });
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  try {
    for (let next = reader.next(); next === true || (await next); next = reader.next()) {
      yield { key: keyOf(reader), reader };
      reader.release();
    }
  } finally {
    await reader.close();
  }
}

/** The current line of a reader, byte for byte. */
export const textOf = ({ line: { json, start, end } }: LineReader): string =>
  json.bytes.toString('utf8', start, end);

import type { LastRun } from '../../model/stored/last-runs.ts';
import { type LineReader, readLines } from '../../snapshot/changes/line-reader.ts';
import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';

export type RunToRead = {
  readonly store: Store;
  readonly run: LastRun;
  /** Receives what is missing or damaged, in words. */
  readonly addFault: (fault: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Calls `use` at each line of a run. A part that is missing or damaged is a fault, and so is a line of which `use` throws
 * `StoredObjectError`: the rest is read. A part is known to be damaged only at its end, so its lines may have been used.
 */
export async function eachLine(
  { store, run, addFault, signal }: RunToRead,
  use: (reader: LineReader) => void,
): Promise<void> {
  const { place, manifest } = run;
  for (const part of manifest.parts) {
    const reader = readLines({ store, parts: [part], signal });
    try {
      for (let next = reader.next(); typeof next === 'boolean' ? next : await next; next = reader.next()) {
        forgiving(place, addFault, () => use(reader));
        reader.release();
      }
    } catch (error) {
      if (!(error instanceof StoredObjectError)) throw error;
      addFault(`${place}: ${error.message}`);
    } finally {
      await reader.close();
    }
  }
}

function forgiving(place: string, addFault: (fault: string) => void, use: () => void): void {
  try {
    use();
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    addFault(`${place}: ${error.message}`);
  }
}

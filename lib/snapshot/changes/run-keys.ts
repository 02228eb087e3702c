import type { Store } from '../../store/store.ts';
import type { Manifest } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { createLineKey } from './line-key.ts';
import { readLines } from './line-reader.ts';

export type RunKeysOptions = {
  readonly store: Store;
  readonly source: Source;
  readonly run: Pick<Manifest, 'parts'>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The keys of a run's records in the order of its parts. Throws `StoredObjectError` that names the part that does not
 * match the manifest, or the line that is not a record.
 */
export async function* runKeys({ store, source, run, signal }: RunKeysOptions): AsyncGenerator<string> {
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts: run.parts, signal });
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next()) {
      yield keyOf(reader);
      reader.release();
    }
  } finally {
    await reader.close();
  }
}

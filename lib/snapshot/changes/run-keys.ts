import type { Store } from '../../store/index.ts';
import type { Manifest } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { createLineKey } from './line-key.ts';
import { readLines } from './line-reader.ts';

type RunKeysOptions = {
  readonly store: Store;
  readonly source: Source;
  readonly run: Pick<Manifest, 'parts'>;
  readonly signal?: AbortSignal | undefined;
};

const KEYS_AT_ONCE = 1_000;

/** The keys of a run's records in order, a thousand at a time: singly takes twice as long. Throws `StoredObjectError`. */
export async function* runKeys({
  store,
  source,
  run,
  signal,
}: RunKeysOptions): AsyncGenerator<readonly string[]> {
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts: run.parts, signal });
  let keys: string[] = [];
  try {
    for (let found = reader.next(); typeof found === 'boolean' ? found : await found; found = reader.next()) {
      keys.push(keyOf(reader));
      reader.release();
      if (keys.length < KEYS_AT_ONCE) continue;
      yield keys;
      keys = [];
    }
    if (keys.length > 0) yield keys;
  } finally {
    await reader.close();
  }
}

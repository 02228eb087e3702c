import type { Store } from '../../store/store.ts';
import { runKeys } from '../changes/run-keys.ts';
import { sourceOf } from '../keys.ts';
import { type Checkpoint, readParts } from './checkpoint.ts';

const KEYS_AT_ONCE = 1_000;

/**
 * The keys of all records in the durable parts of a run's current segment, in order, as one part after another is read.
 * Throws `StoredObjectError` that names a part or part entry that is missing or altered.
 */
export async function* readTakenKeys(
  store: Store,
  { source, lastPart, segment }: Pick<Checkpoint, 'source' | 'lastPart' | 'segment'>,
  signal?: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const run = { parts: await readParts(store, lastPart, segment?.lastPart) };
  let keys: string[] = [];
  for await (const key of runKeys({ store, source: sourceOf(source), run, signal })) {
    keys.push(key);
    if (keys.length < KEYS_AT_ONCE) continue;
    yield keys;
    keys = [];
  }
  if (keys.length > 0) yield keys;
}

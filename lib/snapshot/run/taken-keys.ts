import type { Store } from '../../store/store.ts';
import { runKeys } from '../changes/run-keys.ts';
import { sourceOf } from '../keys.ts';
import { type Checkpoint, readParts } from './checkpoint.ts';

/**
 * The keys of all records in the durable parts of a run, read one part after another. Throws `StoredObjectError` that
 * names a part or part entry that is missing or altered.
 */
export async function readTakenKeys(
  store: Store,
  { source, lastPart }: Pick<Checkpoint, 'source' | 'lastPart'>,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const run = { parts: await readParts(store, lastPart) };
  const keys = new Set<string>();
  for await (const key of runKeys({ store, source: sourceOf(source), run, signal })) keys.add(key);
  return keys;
}

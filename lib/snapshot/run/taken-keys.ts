import type { Store } from '../../store/store.ts';
import { runKeys } from '../changes/run-keys.ts';
import { sourceOf } from '../keys.ts';
import { type Checkpoint, readParts } from './checkpoint.ts';

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
  yield* runKeys({ store, source: sourceOf(source), run, signal });
}

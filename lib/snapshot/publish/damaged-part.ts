import { type Store, StoredObjectError } from '../../store/index.ts';
import { runKeys } from '../changes/run-keys.ts';
import type { Part } from '../manifest.ts';
import type { Source } from '../sources/sources.ts';

/**
 * The first of these parts that cannot be read, does not have its sha256, or has a line that is not a record, in words;
 * undefined if all are sound.
 */
export async function damagedPart(
  store: Store,
  source: Source,
  parts: readonly Part[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (const part of parts) {
    try {
      for await (const _ of runKeys({ store, source, run: { parts: [part] }, signal }));
    } catch (error) {
      if (error instanceof StoredObjectError) return error.message;
      throw error;
    }
  }
  return undefined;
}

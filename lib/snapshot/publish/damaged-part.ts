import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { partChunks } from '../changes/part-chunks.ts';
import type { Part } from '../manifest.ts';

/** The first of these parts that cannot be read, or does not have its sha256, in words; undefined if all are sound. */
export async function damagedPart(
  store: Store,
  parts: readonly Part[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (const part of parts) {
    try {
      for await (const _ of partChunks({ store, part, signal }));
    } catch (error) {
      if (error instanceof StoredObjectError) return error.message;
      throw error;
    }
  }
  return undefined;
}

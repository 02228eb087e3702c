import * as z from 'zod/mini';
import type { Store } from '../../store/store.ts';
import { type Place, workFolder } from '../keys.ts';
import { parseStored, printStored, StoredObjectError } from '../manifest.ts';

const idsSchema = z.object({ ids: z.array(z.string()) });

const idsKey = (place: Place, run: string) => `${workFolder(place, { id: run })}_ids.json`;

/** Keeps the ids of a run, so that it can be gone on with although the file or run they came from has changed. */
export async function storeIds(
  store: Store,
  place: Place,
  run: string,
  ids: readonly string[],
): Promise<void> {
  await store.put(idsKey(place, run), printStored({ ids }));
}

/** The ids that were kept for a run. Throws `StoredObjectError` if there are none. */
export async function readStoredIds(store: Store, place: Place, run: string): Promise<readonly string[]> {
  const key = idsKey(place, run);
  const stored = await store.get(key);
  if (stored === undefined)
    throw new StoredObjectError(`${key} in ${store.location}: expected the run's ids, got nothing`);
  return parseStored(key, stored.body, idsSchema).ids;
}

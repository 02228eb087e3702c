import * as z from 'zod/mini';
import type { Store } from '../../store/store.ts';
import { printStored, readStored } from '../../store/stored-json.ts';
import { type Place, workFolder } from '../keys.ts';

const idsSchema = z.object({ ids: z.array(z.string()) });

const idsKey = (place: Place, run: string) => `${workFolder(place, { id: run })}_ids.json`;

/** Stores the ids of a run, so that it can be resumed even if the file or run they came from has changed. */
export async function storeIds(
  store: Store,
  place: Place,
  run: string,
  ids: readonly string[],
): Promise<void> {
  await store.put(idsKey(place, run), printStored({ ids }));
}

/** The stored ids of a run. Throws `StoredObjectError` if there are none. */
export async function readStoredIds(store: Store, place: Place, run: string): Promise<readonly string[]> {
  const key = idsKey(place, run);
  return (await readStored(store, key, { what: "the run's ids", schema: idsSchema })).value.ids;
}

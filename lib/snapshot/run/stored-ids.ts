import * as z from 'zod/mini';
import { findStored, MOST_LIST_BYTES, missingObject, printBounded, type Store } from '../../store/index.ts';
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
  const key = idsKey(place, run);
  await store.put(key, printBounded(key, { ids }, MOST_LIST_BYTES));
}

/** The stored ids of a run; undefined if there are none. Throws `StoredObjectError` if they are damaged. */
export async function findStoredIds(
  store: Store,
  place: Place,
  run: string,
): Promise<readonly string[] | undefined> {
  return (await findStored(store, idsKey(place, run), idsSchema, MOST_LIST_BYTES))?.value.ids;
}

/** The error for a run whose ids are gone. */
export const missingIds = (store: Store, place: Place, run: string) =>
  missingObject(store, idsKey(place, run), "the run's ids");

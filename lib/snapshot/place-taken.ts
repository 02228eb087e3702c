import type { Store } from '../store/index.ts';
import { type Place, sourceOf } from './keys.ts';

/**
 * A place differs from another only in the case of letters: in a directory that ignores case, as on macOS, both would be
 * one folder, and each would replace the other's runs. Refused for every store, since stores are copied.
 */
export class PlaceTakenError extends Error {
  override readonly name = 'PlaceTakenError';

  constructor(place: Place, other: string, location: string) {
    super(
      `${place} in ${location}: expected a name that differs from every other in more than the case of its letters, got one beside ${other}`,
    );
  }
}

/** Throws `PlaceTakenError` if nothing is published at a place, but something at one that differs only in case. */
export async function refuseTakenPlace(
  store: Pick<Store, 'folders' | 'location'>,
  place: Place,
): Promise<void> {
  const source = sourceOf(place);
  if (place === source) return;
  const published = await Array.fromAsync(store.folders(`${source}.`));
  if (published.includes(place)) return;
  const other = published.find((each) => each.toLowerCase() === place.toLowerCase());
  if (other !== undefined) throw new PlaceTakenError(place, other, store.location);
}

import type { Store } from './store.ts';
import { type Expected, readStored, StoredObjectError } from './stored-json.ts';

/** An object that names the one that was stored before it, in the same folder; null for the first. */
type WithPrevious = { readonly previous: string | null };

export type ObjectsToRead<T> = Expected<T> & {
  /** The key of the last one; null if there are none. */
  readonly last: string | null;
  /** Only those after the object with this key. Default: all. */
  readonly after?: string | null | undefined;
};

/**
 * Reads objects that each name the one before, from the last one to the first. Throws `StoredObjectError` if one is
 * missing or invalid, lies in another folder, or comes again: whatever is stored there, this ends.
 */
export async function* readBack<T extends WithPrevious>(
  store: Pick<Store, 'get' | 'location'>,
  { last, after = null, ...expected }: ObjectsToRead<T>,
): AsyncGenerator<{ readonly key: string; readonly value: T }> {
  const seen = new Set<string>();
  const folder = last?.slice(0, last.lastIndexOf('/') + 1);
  for (let key = last; key !== null && key !== after; ) {
    if (key.slice(0, key.lastIndexOf('/') + 1) !== folder)
      throw invalid(`${last}: expected only objects of its folder before it, got ${key}`);
    if (seen.has(key))
      throw invalid(`${key}: expected ${expected.what} that leads to the first, got a circle`);
    seen.add(key);
    const { value } = await readStored(store, key, expected);
    yield { key, value };
    key = value.previous;
  }
}

const invalid = (message: string) => new StoredObjectError('invalid', message);

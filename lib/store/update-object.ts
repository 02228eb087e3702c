import { StoreError } from './error.ts';
import type { PutCondition, PutOptions, Store, StoredObject } from './store.ts';

/** The condition that an object is unchanged since it was read: it has this etag, or is still absent if undefined. */
export const ifUnchanged = (etag: string | undefined): PutCondition =>
  etag === undefined ? { ifAbsent: true } : { ifMatch: etag };

/** How many times an update is tried at most. A try fails if another writer replaces the object between our read and our write. */
const MAX_ROUNDS = 20;

/**
 * Replaces an object with the result of `decide`, if the object has not changed since `decide` saw it; otherwise calls
 * `decide` again. If `decide` returns undefined, the object stays unchanged. Returns whether an object was stored.
 * Throws a `busy` StoreError if other writers were faster 20 times in a row.
 */
export async function updateObject(
  store: Pick<Store, 'get' | 'put'>,
  key: string,
  decide: (found: StoredObject | undefined) => Promise<Uint8Array | undefined> | Uint8Array | undefined,
  parts: Omit<PutOptions, 'condition'> & {
    /** A larger object is a `too-large` failure. Default: as for `get`. */
    readonly maxBytes?: number;
    /**
     * Whether the object most likely does not exist. If so, it is read only if the first put shows that it exists.
     * Default: false.
     */
    readonly isNew?: boolean;
  } = {},
): Promise<boolean> {
  const { maxBytes, isNew = false, ...options } = parts;
  const limit = maxBytes === undefined ? {} : { maxBytes };
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const found = isNew && round === 1 ? undefined : await store.get(key, limit);
    const body = await decide(found);
    if (body === undefined) return false;
    const put = await store.put(key, body, { ...options, condition: ifUnchanged(found?.etag) });
    if (put.kind === 'stored') return true;
  }
  throw new StoreError(`replace ${key}`, {
    kind: 'busy',
    code: `replaced by others ${MAX_ROUNDS} times in a row`,
  });
}

/** Wraps a store so that an abort of `until` aborts every call, with the signal's reason. */
export function storeUntil(store: Store, until: AbortSignal): Store {
  const both = <O extends { readonly signal?: AbortSignal | undefined }>(options?: O) => ({
    ...options,
    signal: options?.signal === undefined ? until : AbortSignal.any([until, options.signal]),
  });
  const { oldVersions, tagAll } = store;
  return {
    location: store.location,
    get: (key, options) => store.get(key, both(options)),
    stream: (key, options) => store.stream(key, both(options)),
    put: (key, body, options) => store.put(key, body, both(options)),
    putStream: (key, pieces, options) => store.putStream(key, pieces, both(options)),
    copy: (from, to, options) => store.copy(from, to, both(options)),
    list: (prefix, options) => store.list(prefix, both(options)),
    folders: (prefix, options) => store.folders(prefix, both(options)),
    delete: (key, options) => store.delete(key, both(options)),
    ...(oldVersions && { oldVersions: (prefix, options) => oldVersions(prefix, both(options)) }),
    ...(tagAll && { tagAll: (prefix, tag, options) => tagAll(prefix, tag, both(options)) }),
  };
}

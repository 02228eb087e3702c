import type { Store } from './store.ts';

/** The same store, all of whose waits end when the signal is aborted, with the signal's reason. */
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

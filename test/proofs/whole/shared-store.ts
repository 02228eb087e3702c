import { StoreError } from '../../../lib/store/error.ts';
import { compareKeys } from '../../../lib/store/index.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import type { Process, World } from './world.ts';

const TIMEOUT_MS = 5_000;

/** The shared store. `seen` is called for every object that is put in one request, at the moment it becomes visible. */
export function createSharedStore(seen: (key: string, body: string) => void): Store {
  const store = createFolders();
  return {
    ...store,
    async put(key, body, options) {
      const result = await store.put(key, body, options);
      if (result.kind === 'stored') seen(key, Buffer.from(body).toString());
      return result;
    },
  };
}

/** An in-memory store for each folder, so that listing the few runs of a year does not go through thousands of results. */
function createFolders(): Store {
  const folders = new Map<string, Store>();
  const of = (key: string): Store => {
    const [name = ''] = key.split('/', 1);
    const folder = folders.get(name) ?? createMemoryStore();
    folders.set(name, folder);
    return folder;
  };
  const within = (prefix: string) => (prefix.includes('/') ? [of(prefix)] : [...folders.values()]);
  return {
    location: 'memory',
    get: (key, options) => of(key).get(key, options),
    stream: (key, options) => of(key).stream(key, options),
    put: (key, body, options) => of(key).put(key, body, options),
    putStream: (key, pieces, options) => of(key).putStream(key, pieces, options),
    async copy(from, to) {
      const found = await of(from).get(from);
      if (found === undefined) throw new StoreError(`copy ${from}`, { kind: 'missing', what: 'object' });
      await of(to).put(to, found.body);
    },
    async *list(prefix) {
      const found = await Promise.all(within(prefix).map((folder) => Array.fromAsync(folder.list(prefix))));
      yield* found.flat().sort((a, b) => compareKeys(a.key, b.key));
    },
    async *folders(prefix) {
      for (const folder of within(prefix)) yield* folder.folders(prefix);
    },
    delete: (key) => of(key).delete(key),
  };
}

/** The store as one process reaches it. Streamed writes and lists take one request each. */
export function storeFor(store: Store, process: Process, world: World): Store {
  const act = <T>(label: string, perform: () => Promise<T>): Promise<T> =>
    world.act(process, {
      label,
      border: 'store',
      timeoutMs: TIMEOUT_MS,
      perform,
      failure: (kind) => new StoreError(label, { kind, code: kind === 'busy' ? 'SlowDown' : 'ECONNRESET' }),
    });
  return {
    location: store.location,
    get: (key, options) => act(`read ${key}`, () => store.get(key, options)),
    stream: (key, options) => act(`stream ${key}`, () => store.stream(key, options)),
    put(key, body, options) {
      // A late request still carries its original body, even if the caller reuses the buffer.
      const copy = Buffer.from(body);
      return act(`write ${key}`, () => store.put(key, copy, options));
    },
    async putStream(key, pieces) {
      const body = Buffer.concat(await Array.fromAsync(pieces));
      await act(`write ${key}`, () => store.put(key, body));
    },
    copy: (from, to) => act(`copy ${from}`, () => store.copy(from, to)),
    async *list(prefix) {
      yield* await act(`list ${prefix}`, () => Array.fromAsync(store.list(prefix)));
    },
    async *folders(prefix) {
      yield* await act(`folders of ${prefix}`, () => Array.fromAsync(store.folders(prefix)));
    },
    delete: (key) => act(`delete ${key}`, () => store.delete(key)),
  };
}

import { StoreError } from '../../../lib/store/error.ts';
import type { PutOptions, PutResult, Store, StoredObject } from '../../../lib/store/store.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** What the store of a simulation can do. */
export type SmallStore = Pick<Store, 'get' | 'put' | 'list' | 'delete'>;

/** Objects in memory. `seen` is called for every object that is put, at the moment when it becomes visible. */
export function createMemoryStore(seen: (key: string, body: string) => void): SmallStore {
  const objects = new Map<string, StoredObject>();
  let puts = 0;
  return {
    get: async (key) => objects.get(key),
    async put(key: string, body: Uint8Array, { condition }: PutOptions = {}): Promise<PutResult> {
      const there = objects.get(key);
      const holds =
        condition === undefined ||
        ('ifAbsent' in condition ? there === undefined : there?.etag === condition.ifMatch);
      if (!holds) return { kind: 'condition-failed' };
      puts += 1;
      const etag = `etag ${puts}`;
      objects.set(key, { body: Buffer.from(body), etag });
      seen(key, Buffer.from(body).toString());
      return { kind: 'stored', etag };
    },
    async *list(prefix) {
      for (const [key, { body, etag }] of objects) {
        if (key.startsWith(prefix)) yield { key, sizeBytes: body.byteLength, mark: etag };
      }
    },
    async delete(key) {
      objects.delete(key);
    },
  };
}

/** A store as one process sees it: every step is an act of the world. */
export function faultyStore(store: SmallStore, process: Process, world: World): Store {
  const act = <T>(label: string, perform: () => Promise<T>) =>
    world.act(process, {
      label,
      area: 'store',
      perform,
      failure: () => new StoreError(label, { kind: 'unreachable', code: 'ECONNRESET' }),
    });
  return asStore({
    get: (key) => act(`read ${key}`, () => store.get(key)),
    put: (key, body, options) => {
      // The caller may reuse the body once this has resolved, while a late request still carries it.
      const copy = Buffer.from(body);
      return act(`write ${key}`, () => store.put(key, copy, options));
    },
    list: (prefix) => store.list(prefix),
    delete: (key) => act(`delete ${key}`, () => store.delete(key)),
  });
}

/** A store that can do no more than this. */
export function asStore(store: SmallStore): Store {
  const notSimulated = () => Promise.reject(new Error('not simulated'));
  return {
    ...store,
    location: 'memory',
    async *folders() {
      yield await notSimulated();
    },
    stream: notSimulated,
    putStream: notSimulated,
    copy: notSimulated,
  };
}

import type { Store } from '../../../lib/store/store.ts';

/** A store in memory with what a comparison needs: put, get and stream. Streams return small chunks. */
export function createMemoryStore(): Store & { readonly objects: Map<string, Buffer> } {
  const objects = new Map<string, Buffer>();
  const unsupported = () => {
    throw new Error('not in this fake');
  };
  return {
    objects,
    location: 'memory',
    async get(key) {
      const body = objects.get(key);
      return body === undefined ? undefined : { body, etag: 'one' };
    },
    async stream(key) {
      const body = objects.get(key);
      return body === undefined ? undefined : chunksOf(body);
    },
    async put(key, body) {
      objects.set(key, Buffer.from(body));
      return { kind: 'stored', etag: 'one' };
    },
    async putStream(key, pieces) {
      objects.set(key, Buffer.concat(await Array.fromAsync(pieces)));
    },
    copy: unsupported,
    list: unsupported,
    folders: unsupported,
    delete: unsupported,
  };
}

async function* chunksOf(body: Buffer): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < body.byteLength; from += 100) yield body.subarray(from, from + 100);
}

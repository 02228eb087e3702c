import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createBoundary, withPieces } from '../../lib/store/boundary.ts';
import { StoreError } from '../../lib/store/error.ts';
import { checkKey, checkPrefix, compareKeys } from '../../lib/store/key.ts';
import { MAX_OBJECT_BYTES, type PutOptions, type PutResult, type Store } from '../../lib/store/store.ts';
import { foldersIn } from './folders-in.ts';

/** A store in memory, and its objects by key. */
export type MemoryStore = Store & { readonly objects: Map<string, Buffer> };

/**
 * A store for tests that are not about the store itself. It passes `describeStore`, as the directory and S3 do, at a
 * tenth of the cost of a directory, which locks, syncs and renames files. Only a large put takes time, so that it can
 * be aborted. `chunkBytes`: the size of a stream's chunks.
 */
export function createMemoryStore({ chunkBytes = CHUNK_BYTES } = {}): MemoryStore {
  const objects = new Map<string, Buffer>();
  const { run, each } = createBoundary('memory', (error) => ({ kind: 'other', code: String(error) }));
  const bodyOf = (key: string): Buffer | undefined => {
    checkKey(key);
    return objects.get(key);
  };
  return {
    objects,
    location: 'memory',
    get: (key, { signal, maxBytes = MAX_OBJECT_BYTES } = {}) =>
      run(`get ${key}`, signal, async (tried) => {
        const body = bodyOf(key);
        const sizeBytes = body?.byteLength ?? 0;
        if (sizeBytes > maxBytes) throw new StoreError(tried, { kind: 'too-large', maxBytes, sizeBytes });
        // A copy, since the caller may overwrite it.
        return body && { body: Buffer.from(body), etag: etagOf(body) };
      }),
    stream: (key, { signal } = {}) =>
      run(`stream ${key}`, signal, async () => {
        const body = bodyOf(key);
        return body && each(`stream ${key}`, signal, () => chunksOf(body, chunkBytes));
      }),
    put: (key, body, options = {}) =>
      run(`put ${key}`, options.signal, () => put(objects, key, body, options)),
    putStream: (key, pieces, { signal } = {}) =>
      withPieces(pieces, (watched) =>
        run(`put ${key}`, signal, async () => {
          checkKey(key);
          const body = Buffer.concat(await Array.fromAsync(watched));
          signal?.throwIfAborted();
          objects.set(key, body);
        }),
      ),
    copy: (from, to, { signal } = {}) =>
      run(`copy ${from} to ${to}`, signal, async (tried) => {
        checkKey(to);
        const body = bodyOf(from);
        if (body === undefined) throw new StoreError(tried, { kind: 'missing', what: 'object' });
        objects.set(to, body);
      }),
    list: (prefix, { signal } = {}) =>
      each(`list ${prefix}*`, signal, async function* () {
        checkPrefix(prefix);
        const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(compareKeys);
        for (const key of keys) {
          const body = objects.get(key);
          if (body !== undefined) yield { key, sizeBytes: body.byteLength, mark: etagOf(body) };
        }
      }),
    folders: (prefix, { signal } = {}) =>
      each(`list ${prefix}*`, signal, async function* () {
        checkPrefix(prefix);
        yield* foldersIn(objects.keys(), prefix);
      }),
    delete: (key, { signal } = {}) =>
      run(`delete ${key}`, signal, async () => {
        checkKey(key);
        objects.delete(key);
      }),
  };
}

const LARGE_BYTES = 8 * 1024 * 1024;
/** Much longer than a timer can be late on a busy machine. */
const LARGE_PUT_MS = 500;
const CHUNK_BYTES = 256 * 1024;

async function put(
  objects: Map<string, Buffer>,
  key: string,
  body: Uint8Array,
  { condition, signal }: PutOptions,
): Promise<PutResult> {
  checkKey(key);
  if (body.byteLength > LARGE_BYTES) await delay(LARGE_PUT_MS, undefined, signal ? { signal } : {});
  const current = objects.get(key);
  if (condition && 'ifAbsent' in condition && current) return { kind: 'condition-failed' };
  if (condition && 'ifMatch' in condition && (current && etagOf(current)) !== condition.ifMatch)
    return { kind: 'condition-failed' };
  // A copy, since the caller may overwrite its own.
  const stored = Buffer.from(body);
  objects.set(key, stored);
  return { kind: 'stored', etag: etagOf(stored) };
}

const etags = new WeakMap<Buffer, string>();

/** Computed on the first comparison, since most objects are never compared. */
function etagOf(body: Buffer): string {
  const etag = etags.get(body) ?? hash('sha256', body);
  etags.set(body, etag);
  return etag;
}

async function* chunksOf(body: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < body.byteLength; from += size) yield body.subarray(from, from + size);
}

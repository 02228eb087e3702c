import { createHash } from 'node:crypto';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { missingObject, type Store, StoredObjectError, StoreError } from '../../store/index.ts';
import { splitZstdFrames } from '../frames/zstd-frames.ts';
import { compressionSuffix } from '../keys.ts';
import type { Manifest } from '../manifest.ts';

export type PartToRead = {
  readonly store: Pick<Store, 'stream' | 'location'>;
  /** Without a sha256 the bytes are not checked. */
  readonly part: Pick<Manifest['parts'][number], 'key'> & {
    readonly sha256?: string;
  };
  readonly signal?: AbortSignal | undefined;
};

/**
 * The bytes of a part in pieces of up to 256 KB, decompressed according to its suffix. They are certain only at its
 * end, where the sha256 is checked. Throws `StoredObjectError` if it is missing, altered, or cannot be decompressed.
 */
export async function* partChunks({ store, part, signal }: PartToRead): AsyncGenerator<Buffer> {
  const bytes = await store.stream(part.key, withSignal(signal));
  if (bytes === undefined) throw missingObject(store, part.key, 'a part');
  const { unpacked, divide } = createDecompressor(part.key);
  let fault: unknown;
  const checked = (async function* check() {
    try {
      yield* checkedBytes(bytes, part);
    } catch (error) {
      fault = error;
      throw error;
    }
  })();
  const pumped = pipeline(Readable.from(divide(checked)), unpacked, withSignal(signal));
  // `unpacked` fails with the same error, and is awaited.
  pumped.catch(() => undefined);
  try {
    yield* unpacked as AsyncIterable<Buffer>;
    // Gunzip ends at zeros after a member, whatever follows them.
    for await (const _ of checked);
    if (fault !== undefined) throw fault;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StoredObjectError || error instanceof StoreError) throw error;
    throw new StoredObjectError('invalid', `${part.key} in ${store.location}: cannot be decompressed`, {
      cause: error,
    });
  } finally {
    unpacked.destroy();
  }
}

const withSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

async function* checkedBytes(
  bytes: AsyncIterable<Uint8Array>,
  { key, sha256 }: PartToRead['part'],
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    if (sha256 !== undefined) hash.update(chunk);
    yield chunk;
  }
  if (sha256 === undefined) return;
  const got = hash.digest('hex');
  if (got !== sha256) {
    throw new StoredObjectError(
      'invalid',
      `${key}: expected the sha256 ${sha256} of the manifest, got ${got}`,
    );
  }
}

const CHUNK_BYTES = 256 * 1024;

type Decompressor = {
  readonly unpacked: Transform;
  /** Divides the compressed bytes as the decompressor needs them. */
  readonly divide: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
};

function createDecompressor(key: string): Decompressor {
  if (key.endsWith(`.${compressionSuffix.gzip}`))
    return { unpacked: createGunzip({ chunkSize: CHUNK_BYTES }), divide: (bytes) => bytes };
  if (key.endsWith(`.${compressionSuffix.zstd}`))
    return { unpacked: createZstdDecompress({ chunkSize: CHUNK_BYTES }), divide: splitZstdFrames };
  const known = Object.values(compressionSuffix).join(' or .');
  throw new StoredObjectError('invalid', `${key}: expected a part that ends in .${known}`);
}

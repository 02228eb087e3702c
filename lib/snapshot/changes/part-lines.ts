import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { StoreError } from '../../store/error.ts';
import type { Store } from '../../store/store.ts';
import { missingObject, StoredObjectError } from '../../store/stored-json.ts';
import { compressionSuffix } from '../keys.ts';
import type { Manifest } from '../manifest.ts';

export type PartLinesOptions = {
  readonly store: Store;
  readonly part: Pick<Manifest['parts'][number], 'key' | 'sha256'>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The lines of a part, in batches as they arrive, decompressed according to its suffix and no faster than the caller
 * reads. The bytes are checked against the manifest's sha256 at the end of the part: only then are its lines certain.
 * Throws `StoredObjectError` that names a part that is missing, altered, or cannot be decompressed.
 */
export async function* partLines(options: PartLinesOptions): AsyncGenerator<readonly string[]> {
  const { store, part, signal } = options;
  const bytes = await store.stream(part.key, withSignal(signal));
  if (bytes === undefined) throw missingObject(store, part.key, 'a part');
  const unpacked = createDecompressor(part.key);
  const pumped = pipeline(checked(bytes, part), unpacked, withSignal(signal));
  // `unpacked` fails with the same error, and is awaited.
  pumped.catch(() => undefined);
  try {
    yield* splitLines(unpacked);
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

async function* checked(
  bytes: AsyncIterable<Uint8Array>,
  { key, sha256 }: PartLinesOptions['part'],
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  const got = hash.digest('hex');
  if (got !== sha256) {
    throw new StoredObjectError(
      'invalid',
      `${key}: expected the sha256 ${sha256} of the manifest, got ${got}`,
    );
  }
}

async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let carried: Buffer[] = [];
  for await (const chunk of chunks) {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
      // Each line is decoded on its own: a slice of a longer text would keep the whole text in memory.
      if (carried.length === 0) lines.push(chunk.toString('utf8', from, end));
      else lines.push(Buffer.concat([...carried, chunk.subarray(from, end)]).toString('utf8'));
      carried = [];
      from = end + 1;
    }
    if (from < chunk.byteLength) carried.push(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (carried.length > 0) yield [Buffer.concat(carried).toString('utf8')];
}

const LINE_END = 0x0a;
const CHUNK_BYTES = 256 * 1024;

function createDecompressor(key: string): Transform {
  if (key.endsWith(`.${compressionSuffix.gzip}`)) return createGunzip({ chunkSize: CHUNK_BYTES });
  if (key.endsWith(`.${compressionSuffix.zstd}`)) return createZstdDecompress({ chunkSize: CHUNK_BYTES });
  const known = Object.values(compressionSuffix).join(' or .');
  throw new StoredObjectError('invalid', `${key}: expected a part that ends in .${known}`);
}

import { promisify } from 'node:util';
import { constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import type { Compression } from '../keys.ts';

/** Compressed frames are a fifth of this or less: one output buffer is enough for most. */
const CHUNK_BYTES = 256 * 1024;

const [packGzip, unpackGzip] = [promisify(gzip), promisify(gunzip)];
const [packZstd, unpackZstd] = [promisify(zstdCompress), promisify(zstdDecompress)];

/** One frame of these bytes, all at once and in a thread of its own: the same bytes always give the same frame. */
export async function packFrame(raw: Uint8Array, compression: Compression): Promise<Buffer> {
  switch (compression) {
    case 'gzip':
      return packGzip(raw, { level: 1, chunkSize: CHUNK_BYTES });
    case 'zstd':
      return packZstd(raw, {
        chunkSize: CHUNK_BYTES,
        params: { [constants.ZSTD_c_compressionLevel]: 3 },
      });
    default:
      return compression satisfies never;
  }
}

/** The bytes of one frame. */
export async function unpackFrame(packed: Uint8Array, compression: Compression): Promise<Buffer> {
  return compression === 'gzip' ? unpackGzip(packed) : unpackZstd(packed);
}

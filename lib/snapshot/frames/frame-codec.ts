import { promisify } from 'node:util';
import { constants, gzip, zstdCompress } from 'node:zlib';
import type { Compression } from '../keys.ts';

/** The output buffer: records shrink to a fifth or less, and a second buffer makes a frame take a sixth longer. */
const chunkBytes = (raw: Uint8Array): number => Math.max(64 * 1024, Math.ceil(raw.byteLength / 4));

const [packGzip, packZstd] = [promisify(gzip), promisify(zstdCompress)];

/** One frame of these bytes, all at once and in a thread of its own: the same bytes always give the same frame. */
export async function packFrame(raw: Uint8Array, compression: Compression): Promise<Buffer> {
  switch (compression) {
    case 'gzip':
      return packGzip(raw, { level: 1, chunkSize: chunkBytes(raw) });
    case 'zstd':
      return packZstd(raw, {
        chunkSize: chunkBytes(raw),
        params: { [constants.ZSTD_c_compressionLevel]: 1 },
      });
    default:
      return compression satisfies never;
  }
}

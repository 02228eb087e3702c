import { promisify } from 'node:util';
import { constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import { StoredObjectError } from '../../store/index.ts';
import type { Compression } from '../keys.ts';
import { MOST_FRAME_BYTES, MOST_LINE_BYTES } from './frame-limits.ts';

/**
 * The output buffer. Records shrink to a fifth or less: one buffer is enough for nearly every frame. With a smaller one
 * the thread waits for the event loop in the middle of a frame, which takes a sixth longer.
 */
const chunkBytes = (raw: Uint8Array): number => Math.max(64 * 1024, Math.ceil(raw.byteLength / 4));

const [packGzip, unpackGzip] = [promisify(gzip), promisify(gunzip)];
const [packZstd, unpackZstd] = [promisify(zstdCompress), promisify(zstdDecompress)];

/** One frame of these bytes, all at once and in a thread of its own: the same bytes always give the same frame. */
export async function packFrame(raw: Uint8Array, compression: Compression): Promise<Buffer> {
  switch (compression) {
    case 'gzip':
      return packGzip(raw, { level: 1, chunkSize: chunkBytes(raw) });
    case 'zstd':
      return packZstd(raw, {
        chunkSize: chunkBytes(raw),
        params: { [constants.ZSTD_c_compressionLevel]: 3 },
      });
    default:
      return compression satisfies never;
  }
}

/** The bytes of one frame; `place` says where it is. Throws `StoredObjectError` if it unpacks to more than a frame can. */
export async function unpackFrame(
  packed: Uint8Array,
  compression: Compression,
  place: string,
): Promise<Buffer> {
  try {
    return await (compression === 'gzip' ? unpackGzip(packed, MOST) : unpackZstd(packed, MOST));
  } catch (cause) {
    const expected = `expected a frame that unpacks to at most ${MOST.maxOutputLength} bytes`;
    throw new StoredObjectError('invalid', `${place}: ${expected}, got something else`, { cause });
  }
}

/** A frame is ended before its last line, or with it. */
const MOST = { maxOutputLength: MOST_FRAME_BYTES + MOST_LINE_BYTES };

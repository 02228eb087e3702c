import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { Compression } from '../keys.ts';

/** A compressor whose only write is all of a frame, and gives all of it at once. */
type CreatePacker = (options: { readonly chunkSize: number }) => Transform;

const PACKERS = {
  gzip: (options) => createGzip({ ...options, level: 1, flush: constants.Z_FINISH }),
  zstd: (options) =>
    createZstdCompress({
      ...options,
      params: { [constants.ZSTD_c_compressionLevel]: 1 },
      flush: constants.ZSTD_e_end,
    }),
} as const satisfies Record<Compression, CreatePacker>;

/**
 * One frame of these bytes, all at once and in a thread of its own: the same bytes always give the same frame. Where
 * the output has room for any frame and no more input follows, zstd makes no copy of the input.
 */
export async function packFrame(raw: Uint8Array, compression: Compression): Promise<Buffer> {
  const packer = PACKERS[compression]({ chunkSize: raw.byteLength + (raw.byteLength >> 8) + 1_024 });
  try {
    packer.write(raw);
    const [frame] = (await once(packer, 'data')) as [Buffer];
    return frame;
  } finally {
    packer.destroy();
  }
}

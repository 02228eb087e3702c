import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import { gatherBytes } from '../../base/json/index.ts';
import type { Compression } from '../keys.ts';

/**
 * Maximum bytes of frames that wait to be compressed. It is large enough that the compressor's threads have work while
 * a page is scanned.
 */
const MAX_WAITING_BYTES = 6_000_000;

/**
 * Creates a packer that compresses frames, a few at a time, and calls `packed` with each of them, in order. Until then
 * a frame stays in memory.
 */
export function createFramePacker<About>(
  compression: Compression,
  packed: (body: Buffer, about: About) => void,
) {
  const free: ReturnType<typeof gatherBytes>[] = [];
  let raw = gatherBytes();
  /** The ended frames for which `packed` was not called yet, oldest first. */
  const ended: Promise<void>[] = [];
  let endedBytes = 0;
  let last: Promise<void> = Promise.resolve();

  /**
   * Compresses a frame and calls `done` when its bytes are no longer needed. Resolves when there is room for
   * another frame.
   */
  async function pack(lines: Uint8Array, about: About, done: () => void): Promise<void> {
    const sizeBytes = lines.byteLength;
    const packing = packFrame(lines, compression);
    const before = last;
    last = (async () => {
      const [body] = await Promise.all([packing, before]);
      packed(body, about);
      endedBytes -= sizeBytes;
      ended.shift();
      done();
    })();
    last.catch(() => undefined);
    ended.push(last);
    endedBytes += sizeBytes;
    while (endedBytes > MAX_WAITING_BYTES) await ended[0];
  }

  return {
    openBytes: () => raw.sizeBytes(),
    /** A copy of the open frame's lines. */
    openLines: (): Buffer => Buffer.from(raw.bytes()),
    /** Adds whole lines to the open frame. The lines are copied. */
    add: (lines: Uint8Array): void => raw.add(lines),
    addText: (text: string): void => raw.addText(text),
    /**
     * Adds these last lines to the open frame, and ends it. If the frame has no other lines, they are not
     * copied. Resolves when there is room for another frame.
     */
    async end(about: About, lines: Uint8Array = NO_LINES): Promise<void> {
      if (raw.sizeBytes() === 0) return pack(lines, about, () => undefined);
      raw.add(lines);
      const filled = raw;
      raw = free.pop() ?? gatherBytes();
      await pack(filled.bytes(), about, () => {
        filled.clear();
        free.push(filled);
      });
    },
    /** Resolves after `packed` has been called with every ended frame. Throws the error that prevented it. */
    settle: (): Promise<void> => last,
  };
}

const NO_LINES = new Uint8Array();

const PACKERS = {
  gzip: (options) => createGzip({ ...options, level: 1, flush: constants.Z_FINISH }),
  zstd: (options) =>
    createZstdCompress({
      ...options,
      params: { [constants.ZSTD_c_compressionLevel]: 1 },
      flush: constants.ZSTD_e_end,
    }),
} as const satisfies Record<Compression, (options: { readonly chunkSize: number }) => Transform>;

/**
 * Compresses bytes to one frame, in another thread. Equal bytes give equal frames. The output buffer can hold the
 * largest possible frame, since zstd then does not copy the input.
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

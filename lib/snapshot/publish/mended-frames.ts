import { unpackFrame } from '../frames/frame-codec.ts';
import { MOST_FRAME_BYTES } from '../frames/frame-limits.ts';
import { createFramePacker } from '../frames/frame-packer.ts';
import type { Compression } from '../keys.ts';

const LINE_FEED = 0x0a;

/**
 * Puts frames together that were cut only because their part was closed: they are unpacked and packed again, as if the
 * records had come without a break. `packed` gets the new frames in order. No key ends a frame between two such frames,
 * so only their size has to be watched.
 */
export function createMendedFrames(compression: Compression, packed: (body: Buffer) => void) {
  const packer = createFramePacker<undefined>(compression, packed);
  return {
    /** Adds the records of a frame of the part `partKey`. */
    async add(frame: Uint8Array, partKey: string): Promise<void> {
      const lines = await unpackFrame(frame, compression, partKey);
      let [added, at] = [0, 0];
      while (at < lines.byteLength) {
        if (packer.openBytes() + lines.byteLength - added < MOST_FRAME_BYTES) break;
        at = lines.indexOf(LINE_FEED, at) + 1;
        if (packer.openBytes() + at - added < MOST_FRAME_BYTES) continue;
        packer.add(lines.subarray(added, at));
        added = at;
        await packer.end(undefined);
      }
      packer.add(lines.subarray(added));
    },
    /** Ends the last frame. Resolves once `packed` has got all. */
    async end(): Promise<void> {
      if (packer.openBytes() > 0) await packer.end(undefined);
      await packer.settle();
    },
  };
}

import { type GatheredBytes, gatherBytes } from '../../bytes/gathered-bytes.ts';
import type { Compression } from '../keys.ts';
import { packFrame } from './frame-codec.ts';

/** How many frames are compressed at the same time. */
const PACKING = 2;

/**
 * Packs frames in order, two at a time, and gives each to `packed` when its turn comes, with what `end` was given about
 * it. Memory holds the bytes of the frame that is being filled and of those being packed.
 */
export function createFramePacker<About>(
  compression: Compression,
  packed: (body: Buffer, about: About) => void,
) {
  const free: GatheredBytes[] = [];
  let raw = gatherBytes();
  const underWay: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  let waitingBytes = 0;
  return {
    /** The bytes that have not been given to `packed` yet, before compression. */
    waitingBytes: () => waitingBytes,
    /** The bytes of the frame that is being filled. */
    openBytes: () => raw.sizeBytes(),
    /** Adds whole lines to the open frame. They are copied. */
    add(lines: Uint8Array): void {
      raw.add(lines);
      waitingBytes += lines.byteLength;
    },
    /** The same for a text, as UTF-8. */
    addText(text: string): void {
      const size = raw.sizeBytes();
      raw.addText(text);
      waitingBytes += raw.sizeBytes() - size;
    },
    /** Ends the open frame. Resolves once there is room for another. */
    async end(about: About): Promise<void> {
      const filled = raw;
      const packing = packFrame(filled.bytes(), compression);
      const before = last;
      last = (async () => {
        const [body] = await Promise.all([packing, before]);
        packed(body, about);
        waitingBytes -= filled.sizeBytes();
        filled.clear();
        free.push(filled);
      })();
      last.catch(() => undefined);
      underWay.push(last);
      if (underWay.length >= PACKING) await underWay.shift();
      raw = free.pop() ?? gatherBytes();
    },
    /** Resolves once every frame that was ended has been given to `packed`. Throws what prevented it. */
    async settle(): Promise<void> {
      underWay.length = 0;
      await last;
    },
  };
}

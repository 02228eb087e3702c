import type { Compression } from '../keys.ts';
import type { Frame } from './frame.ts';
import { MOST_FRAME_BYTES, MOST_LINE_BYTES } from './frame-limits.ts';
import { createFramePacker } from './frame-packer.ts';
import { borderAfter } from './key-border.ts';

const LINE_FEED = 0x0a;

/** Cuts records into frames after the keys that `borderAfter` chooses, and gives each packed frame to `packed`. */
export function createFrameCutter(compression: Compression, packed: (body: Buffer, frame: Frame) => void) {
  const packer = createFramePacker<Omit<Frame, 'bytes'>>(compression, (body, frame) =>
    packed(body, { bytes: body.byteLength, ...frame }),
  );
  let [records, firstKey, lastKey] = [0, '', ''];

  async function end(why: Frame['end'], lines?: Uint8Array): Promise<void> {
    const frame = { records, firstKey, lastKey, end: why };
    records = 0;
    await packer.end(frame, lines);
  }

  return {
    waitingBytes: packer.waitingBytes,
    /**
     * Adds records in order: as many lines, each with its line feed, as keys. The lines must not change before `packed`
     * has resolved. Resolves once there is room for more.
     */
    async add(keys: readonly string[], lines: Uint8Array): Promise<void> {
      const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
      let [added, at] = [0, 0];
      for (const key of keys) {
        const start = at;
        at = bytes.indexOf(LINE_FEED, at) + 1;
        if (at - start > MOST_LINE_BYTES)
          throw new RangeError(`record ${key}: expected at most ${MOST_LINE_BYTES} bytes, got ${at - start}`);
        if (records === 0) firstKey = key;
        records += 1;
        lastKey = key;
        const border = borderAfter(key, at - start);
        if (border === 'none' && packer.openBytes() + at - added < MOST_FRAME_BYTES) continue;
        const lines = bytes.subarray(added, at);
        added = at;
        await end(border === 'none' ? 'size' : border, lines);
      }
      packer.add(bytes.subarray(added));
    },
    /** Resolves once the lines that were added are packed or copied. Throws what prevented it. */
    packed: packer.settle,
    /** Ends the open frame, if it has records, and resolves once all are packed. */
    async close(): Promise<void> {
      if (records > 0) await end('closed');
      await packer.settle();
    },
  };
}

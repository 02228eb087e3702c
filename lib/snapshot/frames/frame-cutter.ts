import { shortened } from '../../base/index.ts';
import type { Compression } from '../keys.ts';
import type { Frame } from './frame.ts';
import { MOST_FRAME_BYTES, MOST_LINE_BYTES } from './frame-limits.ts';
import { createFramePacker } from './frame-packer.ts';
import { borderAfter } from './key-border.ts';

const LINE_FEED = 0x0a;

/** Cuts records into frames after the keys that `borderAfter` chooses, and gives each packed frame to `packed`. */
export function createFrameCutter(
  compression: Compression,
  packed: (body: Buffer, frame: Frame) => void,
  mostLineBytes = MOST_LINE_BYTES,
) {
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
    /** Throws `RangeError` if a line of so many bytes is longer than `mostLineBytes`. */
    refuseLine(key: string, bytes: number): void {
      if (bytes > mostLineBytes) throw tooLong(key, bytes, mostLineBytes);
    },
    /**
     * Adds records in order: as many lines, each with its line feed, as keys. The lines must not change before `packed`
     * has resolved. Resolves once there is room for more. Throws `RangeError`, and adds none of them, if a line is longer
     * than `mostLineBytes`.
     */
    async add(keys: readonly string[], lines: Uint8Array): Promise<void> {
      const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
      refuseLongLines(keys, bytes, mostLineBytes);
      let [added, at] = [0, 0];
      for (const key of keys) {
        const start = at;
        at = bytes.indexOf(LINE_FEED, at) + 1;
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

/** Before any line is added: whoever saves what was added must not have half of what comes again. */
function refuseLongLines(keys: readonly string[], lines: Buffer, most: number): void {
  if (lines.byteLength <= most) return;
  let at = 0;
  for (const key of keys) {
    const start = at;
    at = lines.indexOf(LINE_FEED, at) + 1;
    if (at - start > most) throw tooLong(key, at - start, most);
  }
}

const tooLong = (key: string, got: number, most: number) =>
  new RangeError(`record ${shortened(key, LONGEST_KEY)}: expected at most ${most} bytes, got ${got}`);

const LONGEST_KEY = 200;

import { createHash } from 'node:crypto';
import { freeMemory, gatherBytes } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import { type Frame, storeFrames } from '../frames/frame.ts';
import { createFrameCutter } from '../frames/frame-cutter.ts';
import { type Compression, partName } from '../keys.ts';
import type { Part } from '../manifest.ts';
import type { RecordBatch, RecordPiece } from '../page/record-batch.ts';

export type PartWriterOptions = {
  readonly store: Store;
  /** Where parts go; ends in a slash. */
  readonly folder: string;
  readonly compression: Compression;
  /** The most bytes of a record's line. Default: `MOST_LINE_BYTES`. */
  readonly mostLineBytes?: number | undefined;
};

/** What records are expected to shrink to before they are compressed. */
const EXPECTED_SHARE = 1 / 6;

/**
 * Writes batches of records into one part at a time: frames that end after the same keys in every run, so that
 * publication can put them together in parts that do not depend on where this writer was closed. Next to each part it
 * stores the list of its frames. Memory holds one compressed part: its name ends in its sha256, so it can only be
 * stored once it is complete.
 */
export function createPartWriter({ store, folder, compression, mostLineBytes }: PartWriterOptions) {
  // All parts use the same memory: with a new buffer for each, two would be held until the old one is collected.
  const compressed = gatherBytes();
  let frames: Frame[] = [];
  const packed = (body: Buffer, frame: Frame) => {
    compressed.add(body);
    freeMemory(body);
    frames.push(frame);
  };
  const cutter = createFrameCutter(compression, packed, mostLineBytes);
  /** Set once half of a batch was added: it comes again, so that what is open must not be stored. */
  let half: { readonly cause: unknown } | undefined;
  return {
    /**
     * Adds records in order. Resolves once there is room for more; their memory is released when they are packed. Throws
     * `RangeError`, and adds none of them, if a line is too long.
     */
    async write({ pieces, release, longest }: RecordBatch): Promise<void> {
      const line = longest?.();
      if (line !== undefined) cutter.refuseLine(line.key, line.bytes);
      await addPieces(cutter, pieces(), (cause) => {
        half = { cause };
      });
      releaseOncePacked(cutter, release);
    },
    /** Drops what was written since the last part was stored. */
    async discard(): Promise<void> {
      await cutter.close();
      half = undefined;
      frames = [];
      compressed.clear();
    },
    /** The compressed size of the open part so far, in bytes; estimated for what has not been compressed yet. */
    compressedBytes: () => compressed.sizeBytes() + Math.ceil(cutter.waitingBytes() * EXPECTED_SHARE),
    /**
     * Stores the open part under its number, and returns it; undefined if nothing was written. A part that could not
     * be stored stays open: the next close tries again.
     */
    async close(index: number): Promise<Part | undefined> {
      if (half !== undefined) throw half.cause;
      await cutter.close();
      const [first, last] = [frames[0], frames.at(-1)];
      if (first === undefined || last === undefined) return undefined;
      const body = compressed.bytes();
      const bytes = body.byteLength;
      const sha256 = createHash('sha256').update(body).digest('hex');
      const key = `${folder}${partName(index, sha256, compression)}`;
      const records = frames.reduce((sum, frame) => sum + frame.records, 0);
      await storeFrames(store, key, frames);
      await store.put(key, body, { sha256 });
      frames = [];
      compressed.clear();
      return { key, bytes, sha256, records, firstKey: first.firstKey, lastKey: last.lastKey };
    },
  };
}

type FrameCutter = ReturnType<typeof createFrameCutter>;

/** Adds pieces in order. Calls `onHalf` with what prevented it if some of them were added, and throws it. */
async function addPieces(
  cutter: FrameCutter,
  pieces: Iterable<RecordPiece>,
  onHalf: (cause: unknown) => void,
): Promise<void> {
  let added = 0;
  try {
    for (const { keys, lines, release } of pieces) {
      await cutter.add(keys, lines);
      added += 1;
      releaseOncePacked(cutter, release);
    }
  } catch (cause) {
    if (added > 0) onHalf(cause);
    throw cause;
  }
}

function releaseOncePacked(cutter: FrameCutter, release: (() => void) | undefined): void {
  // Whoever waits for the next frame hears of a failure. Memory that is not released is collected.
  if (release !== undefined) cutter.packed().then(release, () => undefined);
}

import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { gatherBytes } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import type { Line } from './line-reader.ts';

/** The bytes that all buckets together may hold before compression, and the most of one bucket. */
const OPEN_BYTES = 32_000_000;
const MOST_FRAME_BYTES = 256 * 1024;
/** The compressed bytes at which all buckets are written. */
const WRITTEN_BYTES = 32_000_000;
/** How many objects are written, or frames compressed, at the same time. */
const AT_ONCE = 8;

const LINE_FEED = Buffer.of(0x0a);

/**
 * Writes lines into `count` buckets, in their order: each bucket becomes a series of objects, whose keys `keyIn` makes
 * of the bucket and of digits that sort. Memory holds at most 32 MB of lines and 32 MB compressed.
 */
export function createBucketWriter(
  store: Store,
  count: number,
  keyIn: (bucket: number, number: string) => string,
) {
  const mostFrameBytes = Math.min(MOST_FRAME_BYTES, OPEN_BYTES / count);
  const open = Array.from({ length: count }, () => gatherBytes(1024));
  const frames = createFrames();
  let writes = 0;

  async function write(): Promise<void> {
    const number = String(writes).padStart(4, '0');
    writes += 1;
    const bodies = [...frames.release()];
    for (let from = 0; from < bodies.length; from += AT_ONCE) {
      const some = bodies.slice(from, from + AT_ONCE);
      await Promise.all(some.map(([bucket, body]) => store.put(keyIn(bucket, number), Buffer.concat(body))));
    }
  }

  function pack(bucket: number): void {
    const raw = open[bucket];
    if (raw === undefined || raw.sizeBytes() === 0) return;
    // Copied: the bucket is filled again while it is compressed.
    frames.pack(bucket, Buffer.from(raw.bytes()));
    raw.clear();
  }

  return {
    /** Adds a line to a bucket; true if `settle` must be awaited before the next. */
    add(bucket: number, { json, start, end }: Line): boolean {
      const raw = open[bucket];
      if (raw === undefined) throw new RangeError(`bucket ${bucket}: expected one of ${count}`);
      raw.add(json.bytes.subarray(start, end));
      raw.add(LINE_FEED);
      if (raw.sizeBytes() < mostFrameBytes) return false;
      pack(bucket);
      return frames.isBusy() || frames.packedBytes() >= WRITTEN_BYTES;
    },
    async settle(): Promise<void> {
      await frames.settle();
      if (frames.packedBytes() >= WRITTEN_BYTES) await write();
    },
    /** Writes all that is left. */
    async end(): Promise<void> {
      for (let bucket = 0; bucket < count; bucket += 1) {
        pack(bucket);
        if (frames.isBusy()) await frames.settle();
      }
      await frames.settle();
      await write();
    },
  };
}

const packZstd = promisify(zstdCompress);

/** Compresses frames in threads of their own, and gathers those of each bucket in order. */
function createFrames() {
  let packed = new Map<number, Buffer[]>();
  let [packedBytes, underWay] = [0, 0];
  let last: Promise<void> = Promise.resolve();
  return {
    packedBytes: () => packedBytes,
    isBusy: () => underWay >= AT_ONCE,
    settle: () => last,
    pack(bucket: number, lines: Buffer): void {
      underWay += 1;
      const packing = packZstd(lines, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
      const before = last;
      last = (async () => {
        const [frame] = await Promise.all([packing, before]);
        packed.set(bucket, [...(packed.get(bucket) ?? []), frame]);
        packedBytes += frame.byteLength;
        underWay -= 1;
      })();
      last.catch(() => undefined);
    },
    /** The frames by bucket, which are then forgotten. */
    release(): ReadonlyMap<number, readonly Buffer[]> {
      const released = packed;
      packed = new Map();
      packedBytes = 0;
      return released;
    },
  };
}

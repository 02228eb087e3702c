import { randomBytes } from 'node:crypto';
import { type GatheredBytes, gatherBytes } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import { createFramePacker } from '../frames/frame-packer.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { LineChange } from './change.ts';
import { compareByHash } from './compare-by-hash.ts';
import { type Comparison, MEMORY_BYTES, type RunSide } from './comparison.ts';
import { HASH_SPACE, keyHash } from './key-hash.ts';
import { createLineKey } from './line-key.ts';
import { readLines } from './line-reader.ts';

/** What a byte of a part and a record are estimated to take in memory. */
const UNPACKED = 6;
const RECORD_BYTES = 500;
/** How full a bucket should be: sizes are estimated, and one that is too full is only read again for each half. */
const FILL = 0.6;
const MOST_BUCKETS = 512;

/** Into how many buckets the records must go so that one fits into the memory bound; 1: all fit. */
function bucketCount({ before, after, memoryBytes = MEMORY_BYTES }: Comparison): number {
  const parts = [...before.parts, ...after.parts];
  const estimate = parts.reduce((sum, part) => sum + part.bytes * UNPACKED + part.records * RECORD_BYTES, 0);
  return Math.min(MOST_BUCKETS, Math.max(1, Math.ceil(estimate / (memoryBytes * FILL))));
}

/**
 * Compares two runs in any order: puts their records into buckets by the hashes of their keys, in a folder of `scratch`
 * that nobody else has, and compares bucket by bucket. What fits into memory is compared at once.
 */
export async function* compareInBuckets(
  comparison: Comparison,
  scratch: { readonly store: Store; readonly folder: string },
): AsyncGenerator<readonly LineChange[]> {
  const { before, after } = comparison;
  const count = bucketCount(comparison);
  const borderOf = (bucket: number) => Math.ceil((bucket * HASH_SPACE) / count);
  if (count === 1) {
    const all = { from: 0, to: HASH_SPACE };
    return yield* compareByHash(comparison, { before: before.parts, after: after.parts }, all);
  }
  const { store } = scratch;
  const folder = `${scratch.folder}buckets-${randomBytes(8).toString('hex')}/`;
  const folderOf = (side: RunSide) => (bucket: number) =>
    `${folder}${side}/${String(bucket).padStart(3, '0')}/`;
  for (const side of ['before', 'after'] as const)
    await putInBuckets(comparison, side, { store, count, folderOf: folderOf(side) });
  for (let bucket = 0; bucket < count; bucket += 1) {
    const parts = {
      before: await Array.fromAsync(store.list(folderOf('before')(bucket))),
      after: await Array.fromAsync(store.list(folderOf('after')(bucket))),
    };
    const range = { from: borderOf(bucket), to: borderOf(bucket + 1) };
    yield* compareByHash({ ...comparison, store }, parts, range);
  }
}

/** The bytes that all buckets together may hold before compression, and the most of one bucket. */
const OPEN_BYTES = 32_000_000;
const MOST_FRAME_BYTES = 256 * 1024;
/** The compressed bytes at which all buckets are written. */
const WRITTEN_BYTES = 32_000_000;
/** How many objects are written at the same time. */
const AT_ONCE = 8;

type Buckets = {
  readonly store: Store;
  readonly count: number;
  /** Ends in a slash. */
  readonly folderOf: (bucket: number) => string;
};

/**
 * Puts the records of a run into buckets, in their order: each becomes a series of objects. Memory holds at most 32 MB of
 * them and 32 MB compressed.
 */
async function putInBuckets(
  { store, source, signal, ...runs }: Comparison,
  side: RunSide,
  buckets: Buckets,
): Promise<void> {
  const frameBytes = Math.min(MOST_FRAME_BYTES, OPEN_BYTES / buckets.count);
  const open = Array.from({ length: buckets.count }, () => gatherBytes(1024));
  let frames = new Map<number, Buffer[]>();
  let [packedBytes, writes] = [0, 0];
  const packer = createFramePacker<number>('zstd', (frame, bucket) => {
    frames.set(bucket, [...(frames.get(bucket) ?? []), frame]);
    packedBytes += frame.byteLength;
  });

  async function write(): Promise<void> {
    await packer.settle();
    const bodies = [...frames];
    const name = `${String(writes).padStart(5, '0')}.ndjson.zst`;
    [frames, packedBytes, writes] = [new Map(), 0, writes + 1];
    for (let from = 0; from < bodies.length; from += AT_ONCE) {
      const some = bodies.slice(from, from + AT_ONCE);
      await Promise.all(
        some.map(([bucket, body]) =>
          buckets.store.put(`${buckets.folderOf(bucket)}${name}`, Buffer.concat(body)),
        ),
      );
    }
  }

  async function pack(bucket: number, lines: GatheredBytes): Promise<void> {
    // Copied: the bucket is filled again while it is compressed.
    const copy = Buffer.from(lines.bytes());
    lines.clear();
    await packer.end(bucket, copy);
    if (packedBytes >= WRITTEN_BYTES) await write();
  }

  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts: runs[side].parts, signal });
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next()) {
      const bucket = Math.floor((keyHash(keyOf(reader)) / HASH_SPACE) * buckets.count);
      const { json, start, end } = reader.line;
      const lines = open[bucket] as GatheredBytes;
      // With its line feed.
      lines.add(json.bytes.subarray(start, end + 1));
      reader.release();
      if (lines.sizeBytes() >= frameBytes) await pack(bucket, lines);
    }
    for (const [bucket, lines] of open.entries()) if (lines.sizeBytes() > 0) await pack(bucket, lines);
    await write();
  } finally {
    await reader.close();
  }
}

import type { Store } from '../../store/index.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { createBucketWriter } from './bucket-writer.ts';
import { type Comparison, MEMORY_BYTES, type RunSide } from './comparison.ts';
import { HASH_SPACE, type HashRange, keyHash } from './key-hash.ts';
import { createLineKey } from './line-key.ts';
import { readLines } from './line-reader.ts';
import type { PartToRead } from './part-chunks.ts';

/** Where the records of two runs are put by the hashes of their keys: `count` folders in `folder`, which ends in a slash. */
export type Buckets = { readonly store: Store; readonly folder: string; readonly count: number };

/** What a byte of a part and a record are estimated to take in memory. */
const UNPACKED = 6;
const RECORD_BYTES = 500;
/** How full a bucket should be: sizes are estimated, and one that is too full is only read again for each half. */
const FILL = 0.6;
const MOST_BUCKETS = 512;

/** Into how many buckets the records must go so that one fits into the memory bound; 1: all fit. */
export function bucketCount({ before, after, memoryBytes = MEMORY_BYTES }: Comparison): number {
  const parts = [...(before?.parts ?? []), ...after.parts];
  const estimate = parts.reduce((sum, part) => sum + part.bytes * UNPACKED + part.records * RECORD_BYTES, 0);
  return Math.min(MOST_BUCKETS, Math.max(1, Math.ceil(estimate / (memoryBytes * FILL))));
}

/** The key hashes of a bucket. */
export const hashesOf = ({ count }: Buckets, bucket: number): HashRange => ({
  from: Math.ceil((bucket * HASH_SPACE) / count),
  to: Math.ceil(((bucket + 1) * HASH_SPACE) / count),
});

const folderOf = ({ folder }: Buckets, bucket: number) => `${folder}${String(bucket).padStart(3, '0')}/`;

/** The records of one run in a bucket, as parts to read in order. */
export async function bucketParts(
  buckets: Buckets,
  bucket: number,
  side: RunSide,
): Promise<PartToRead['part'][]> {
  const parts: PartToRead['part'][] = [];
  for await (const { key } of buckets.store.list(`${folderOf(buckets, bucket)}${side}-`)) parts.push({ key });
  return parts;
}

export type RecordsToPut = Pick<Comparison, 'store' | 'source' | 'signal'> & {
  readonly side: RunSide;
  /** Which piece of the run these parts are: the buckets' objects of a piece are replaced if it is repeated. */
  readonly piece: number;
  readonly parts: readonly PartToRead['part'][];
};

/**
 * Puts the records of some parts of a run into buckets, in their order. Memory holds at most 32 MB of them and 32 MB
 * compressed. Throws what reading and storing throw; then all of it can be repeated.
 */
export async function putInBuckets(buckets: Buckets, records: RecordsToPut): Promise<void> {
  const { store, source, signal, side, piece, parts } = records;
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts, signal });
  const name = `${side}-${String(piece).padStart(5, '0')}`;
  const keyIn = (bucket: number, number: string) =>
    `${folderOf(buckets, bucket)}${name}-${number}.ndjson.zst`;
  const writer = createBucketWriter(buckets.store, buckets.count, keyIn);
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next()) {
      const bucket = Math.floor((keyHash(keyOf(reader)) / HASH_SPACE) * buckets.count);
      if (writer.add(bucket, reader.line)) await writer.settle();
      reader.release();
    }
    await writer.end();
  } finally {
    await reader.close();
  }
}

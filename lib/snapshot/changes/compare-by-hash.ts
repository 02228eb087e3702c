import type { LineChange } from './change.ts';
import { compareInPasses } from './compare-in-passes.ts';
import type { Comparison } from './comparison.ts';
import type { RunSide } from './comparison-events.ts';
import { type Buckets, bucketCount, bucketParts, hashesOf, putInBuckets } from './hash-buckets.ts';

const SIDES: readonly RunSide[] = ['before', 'after'];

/**
 * Compares two runs in any order. If they do not fit into the memory bound, their records are first put into buckets
 * by key hash in the scratch folder, so that each run is read once, whatever its size. Without a scratch folder they
 * are compared in as many passes as the bound requires. Changes are ordered by bucket and pass, and within by key.
 */
export async function* compareByHash(comparison: Comparison): AsyncGenerator<readonly LineChange[]> {
  const { scratch } = comparison;
  const count = scratch === undefined ? 1 : bucketCount(comparison);
  if (scratch === undefined || count === 1) return yield* compareInPasses(comparison);
  const buckets = { ...scratch, count };
  for (const side of SIDES) {
    await putInBuckets(buckets, { ...comparison, side, piece: 0, parts: comparison[side]?.parts ?? [] });
  }
  for (let bucket = 0; bucket < count; bucket += 1) yield* compareBucket(comparison, buckets, bucket);
}

/** The changes of the records in one bucket. */
export async function* compareBucket(
  comparison: Comparison,
  buckets: Buckets,
  bucket: number,
): AsyncGenerator<readonly LineChange[]> {
  const [before, after] = await Promise.all(SIDES.map((side) => bucketParts(buckets, bucket, side)));
  const inBucket = { ...comparison, store: buckets.store };
  yield* compareInPasses(inBucket, hashesOf(buckets, bucket), { before: before ?? [], after: after ?? [] });
}

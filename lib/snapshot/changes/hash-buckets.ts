import { randomBytes } from 'node:crypto';
import { type GatheredBytes, gatherBytes } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import { packFrame } from '../frames/frame-codec.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { changeOf, changeOfOne, type LineChange } from './change.ts';
import { differingFields } from './differing-fields.ts';
import { HASH_SPACE, keyHash } from './key-hash.ts';
import { createLineKey } from './line-key.ts';
import { noMembers, readLine } from './line-members.ts';
import { bytesOf, type LineReader, readLines } from './line-reader.ts';
import type { PartToRead } from './part-chunks.ts';
import { compareRecordKeys } from './record-key.ts';
import { type Comparison, MEMORY_BYTES, type RunSide, withoutEqualParts } from './side-by-side.ts';

/** What a byte of a part and a record are estimated to take in memory, at most. */
const UNPACKED = 10;
const RECORD_BYTES = 500;
const MOST_BUCKETS = 512;

function bucketCount({ before, after, memoryBytes = MEMORY_BYTES }: Comparison): number {
  const parts = [...before.parts, ...after.parts];
  const estimate = parts.reduce((sum, part) => sum + part.bytes * UNPACKED + part.records * RECORD_BYTES, 0);
  return Math.min(MOST_BUCKETS, Math.max(1, Math.ceil(estimate / memoryBytes)));
}

/** Compares two runs in any order, by buckets of key hashes in a new folder of `scratch`. Each record is read twice. */
export async function* compareInBuckets(
  given: Comparison,
  scratch: { readonly store: Store; readonly folder: string },
): AsyncGenerator<readonly LineChange[]> {
  const comparison = { ...given, ...withoutEqualParts(given) };
  const count = bucketCount(comparison);
  const { store } = scratch;
  const folder = `${scratch.folder}buckets-${randomBytes(8).toString('hex')}/`;
  const folderOf = (side: RunSide, bucket: number) => `${folder}${side}/${String(bucket).padStart(3, '0')}/`;
  for (const side of ['before', 'after'] as const)
    await putInBuckets(comparison, side, { store, count, folderOf: (bucket) => folderOf(side, bucket) });
  for (let bucket = 0; bucket < count; bucket += 1) {
    const partsOf = (side: RunSide) => Array.fromAsync(store.list(folderOf(side, bucket)));
    const parts = { before: await partsOf('before'), after: await partsOf('after') };
    yield await changesOf({ ...comparison, store }, parts);
  }
}

type PartsOfRuns = Readonly<Record<RunSide, readonly PartToRead['part'][]>>;

async function changesOf(comparison: Comparison, parts: PartsOfRuns): Promise<readonly LineChange[]> {
  const { records: rules } = sourceDefinitions[comparison.source];
  const held = new Map<string, Buffer>();
  const changes: LineChange[] = [];
  const members = noMembers();
  await eachRecord(comparison, parts.before, (key, { line }) => {
    held.set(key, Buffer.from(bytesOf(line)));
  });
  await eachRecord(comparison, parts.after, (key, { line }) => {
    const before = held.get(key);
    held.delete(key);
    const fields = before && differingFields(rules, readLine(before, members), line);
    if (fields?.length === 0) return;
    const after = Buffer.from(bytesOf(line));
    changes.push(before && fields ? changeOf(key, before, after, fields) : changeOfOne('after', key, after));
  });
  for (const [key, line] of held) changes.push(changeOfOne('before', key, line));
  const compare = compareRecordKeys(rules.key);
  return changes.sort((a, b) => compare(a.key, b.key));
}

async function eachRecord(
  { store, source, signal }: Comparison,
  parts: PartsOfRuns[RunSide],
  take: (key: string, reader: LineReader) => void | Promise<void>,
): Promise<void> {
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts, signal });
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next()) {
      const taken = take(keyOf(reader), reader);
      if (taken !== undefined) await taken;
      reader.release();
    }
  } finally {
    await reader.close();
  }
}

/** Of the memory, what the records of all buckets take when they are written. */
const OPEN_SHARE = 0.5;
const AT_ONCE = 8;

type Buckets = {
  readonly store: Store;
  readonly count: number;
  readonly folderOf: (bucket: number) => string;
};

/** Puts the records of a run into buckets, in their order: each becomes a series of objects. */
async function putInBuckets(comparison: Comparison, side: RunSide, buckets: Buckets): Promise<void> {
  const { store, count, folderOf } = buckets;
  const mostBytes = OPEN_SHARE * (comparison.memoryBytes ?? MEMORY_BYTES);
  const open = Array.from({ length: count }, () => gatherBytes(1024));
  let [openBytes, writes] = [0, 0];

  async function write(): Promise<void> {
    const name = `${String(writes).padStart(5, '0')}.ndjson.zst`;
    for (let from = 0; from < count; from += AT_ONCE) {
      const some = open.slice(from, from + AT_ONCE).map(async (lines, at) => {
        if (lines.sizeBytes() === 0) return;
        await store.put(`${folderOf(from + at)}${name}`, await packFrame(lines.bytes(), 'zstd'));
        lines.clear();
      });
      await Promise.all(some);
    }
    [openBytes, writes] = [0, writes + 1];
  }

  await eachRecord(comparison, comparison[side].parts, (key, { line: { json, start, end } }) => {
    const bucket = Math.floor((keyHash(key) / HASH_SPACE) * count);
    // With its line feed.
    (open[bucket] as GatheredBytes).add(json.bytes.subarray(start, end + 1));
    openBytes += end + 1 - start;
    return openBytes < mostBytes ? undefined : write();
  });
  await write();
}

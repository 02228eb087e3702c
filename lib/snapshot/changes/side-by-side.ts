import { randomBytes } from 'node:crypto';
import { canonicalExact, gatherBytes, skipValue } from '../../base/json/index.ts';
import type { Store } from '../../store/index.ts';
import { packFrame } from '../frames/frame-packer.ts';
import type { Part } from '../manifest.ts';
import type { RecordRules } from '../sources/source-definition.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { exactValue, type LineChange } from './change.ts';
import { HASH_SPACE, keyHash } from './key-hash.ts';
import {
  compareRecordKeys,
  createLineKey,
  createMembers,
  isPlain,
  lastNamed,
  nameAt,
  type ReadLine,
  readLine,
  valueAt,
  valuesByName,
} from './line-members.ts';
import {
  bytesOf,
  eachLine,
  type Line,
  type LineReader,
  lineOf,
  type PartToRead,
  readLines,
} from './line-reader.ts';

/**
 * An estimate of the maximum memory that a part's records take: bytes for each compressed byte, and for each record.
 */
const BYTES_PER_PART_BYTE = 10;
const BYTES_PER_RECORD = 500;
const MAX_BUCKETS = 512;

function bucketCount({ before, after, memoryBytes = MEMORY_BYTES }: Comparison): number {
  const parts = [...before.parts, ...after.parts];
  const estimate = parts.reduce(
    (sum, part) => sum + part.bytes * BYTES_PER_PART_BYTE + part.records * BYTES_PER_RECORD,
    0,
  );
  return Math.min(MAX_BUCKETS, Math.max(1, Math.ceil(estimate / memoryBytes)));
}

/**
 * Compares two runs whose records are in any order. Distributes the records to buckets by the hashes of their keys, in
 * a new folder of `scratch`, and compares bucket by bucket. So each record is read twice.
 */
export async function* compareInBuckets(
  runs: Comparison,
  scratch: { readonly store: Store; readonly folder: string },
): AsyncGenerator<readonly LineChange[]> {
  const comparison = { ...runs, ...withoutEqualParts(runs) };
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

/** The change for a record that only one of the two runs has. */
const changeOfOne = (side: 'before' | 'after', key: string, line: Buffer): LineChange =>
  side === 'before' ? { change: 'removed', key, before: line } : { change: 'added', key, after: line };

const changeOf = (key: string, before: Buffer, after: Buffer, fields: readonly string[]): LineChange => ({
  change: 'changed',
  key,
  before,
  after,
  fields,
});

async function changesOf(comparison: Comparison, parts: PartsOfRuns): Promise<readonly LineChange[]> {
  const { records: rules } = sourceDefinitions[comparison.source];
  const olderLines = new Map<string, Buffer>();
  const changes: LineChange[] = [];
  const members = createMembers();
  await eachRecord(comparison, parts.before, (key, { line }) => {
    olderLines.set(key, Buffer.from(bytesOf(line)));
  });
  await eachRecord(comparison, parts.after, (key, { line }) => {
    const before = olderLines.get(key);
    olderLines.delete(key);
    const fields = before && differingFields(rules, readLine(before, members), line);
    if (fields?.length === 0) return;
    const after = Buffer.from(bytesOf(line));
    changes.push(before && fields ? changeOf(key, before, after, fields) : changeOfOne('after', key, after));
  });
  for (const [key, line] of olderLines) changes.push(changeOfOne('before', key, line));
  const compare = compareRecordKeys(rules.key);
  return changes.sort((a, b) => compare(a.key, b.key));
}

function eachRecord(
  { store, source, signal }: Comparison,
  parts: PartsOfRuns[RunSide],
  take: (key: string, reader: LineReader) => void | Promise<void>,
): Promise<void> {
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  return eachLine({ store, parts, signal }, (reader) => take(keyOf(reader), reader));
}

/** The share of the memory that records may take while they wait to be written to their buckets. */
const OPEN_SHARE = 0.5;
const PARALLEL_WRITES = 8;

/** Distributes the records of a run to buckets, keeping their order. Each bucket is stored as a series of objects. */
async function putInBuckets(
  comparison: Comparison,
  side: RunSide,
  buckets: {
    readonly store: Store;
    readonly count: number;
    readonly folderOf: (bucket: number) => string;
  },
): Promise<void> {
  const { store, count, folderOf } = buckets;
  const maxBytes = OPEN_SHARE * (comparison.memoryBytes ?? MEMORY_BYTES);
  const open = Array.from({ length: count }, () => gatherBytes(1024));
  let [openBytes, writes] = [0, 0];

  async function write(): Promise<void> {
    const name = `${String(writes).padStart(5, '0')}.ndjson.zst`;
    for (let from = 0; from < count; from += PARALLEL_WRITES) {
      const some = open.slice(from, from + PARALLEL_WRITES).map(async (lines, at) => {
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
    // The line is added with its line feed.
    (open[bucket] as ReturnType<typeof gatherBytes>).add(json.bytes.subarray(start, end + 1));
    openBytes += end + 1 - start;
    return openBytes < maxBytes ? undefined : write();
  });
  await write();
}

/** The parts of a run, and the ids that it could not read. */
type ComparedRun = {
  readonly parts: readonly Part[];
  readonly missing?: readonly { readonly id: string }[];
};

/** Two runs of a source to compare. Each has every key at most once. */
type Comparison = {
  readonly store: Store;
  readonly source: Source;
  readonly before: ComparedRun;
  readonly after: ComparedRun;
  /** Maximum memory for records, in bytes. Default: 64 MB. A single record may exceed it. */
  readonly memoryBytes?: number;
  readonly signal?: AbortSignal | undefined;
};

/** The default maximum memory in bytes. A Lambda function with 1 GB has room for more, but more is not needed. */
const MEMORY_BYTES = 64_000_000;

type RunSide = 'before' | 'after';

/** Thrown if more records wait than the memory limit allows. The changes that were yielded before may be wrong. */
export class NotSideBySideError extends Error {
  override readonly name = 'NotSideBySideError';
}

/** Maximum changes to yield together. It is low, since each change may keep the buffer of its line in memory. */
const MAX_YIELDED = 32;

/**
 * Compares two runs by reading both side by side, each once. Skips the parts that both have. Parses only lines whose
 * bytes differ. A record that is not the next one in the other run waits until that run reaches it. Records that still
 * wait at the end were removed or added; they are yielded last, sorted by key. Throws `NotSideBySideError` if more
 * records wait than the memory limit allows.
 */
export async function* compareSideBySide(comparison: Comparison): AsyncGenerator<readonly LineChange[]> {
  const { records } = sourceDefinitions[comparison.source];
  const { old, now } = openSides(comparison);
  const waiting = createWaitingRecords(comparison);
  let changes: LineChange[] = [];

  /** Compares the current lines of both sides. Returns for each side whether to read its next line. */
  function compareLines(): readonly [boolean, boolean] {
    if (haveEqualBytes(old.read.line, now.read.line)) return [true, true];
    const key = old.key();
    const inPlace = differingInPlace(records, old.read, now.read.line);
    if (inPlace === undefined && key !== now.key()) {
      const isBehind = waiting.has('before', key);
      const isAhead = waiting.has('after', now.key());
      if (isBehind || !isAhead) takeOne('before');
      if (isAhead || !isBehind) takeOne('after');
      return [isBehind || !isAhead, isAhead || !isBehind];
    }
    const fields = inPlace ?? differingByName(records, old.read, now.read);
    if (fields.length > 0)
      changes.push(changeOf(key, bytesOf(old.read.line), bytesOf(now.read.line), fields));
    return [true, true];
  }

  function takeOne(side: RunSide): void {
    const { key, read } = side === 'before' ? old : now;
    const change = waiting.take(side, key(), bytesOf(read.line));
    if (change !== undefined) changes.push(change);
  }

  try {
    let [hasOld, hasNow] = await Promise.all([old.next(), now.next()]);
    while (hasOld || hasNow) {
      const [moveOld, moveNow] = hasOld && hasNow ? compareLines() : [hasOld, hasNow];
      if (!hasOld || !hasNow) takeOne(hasOld ? 'before' : 'after');
      const nextOld = moveOld ? old.next() : hasOld;
      const nextNow = moveNow ? now.next() : hasNow;
      const isMidway = typeof nextOld === 'boolean' && typeof nextNow === 'boolean';
      [hasOld, hasNow] = isMidway ? [nextOld, nextNow] : await Promise.all([nextOld, nextNow]);
      if (isMidway && changes.length < MAX_YIELDED) continue;
      yield changes;
      changes = [];
      if (isMidway) continue;
      old.release();
      now.release();
    }
    yield [...changes, ...waiting.remaining()];
  } finally {
    await Promise.all([old.close(), now.close()]);
  }
}

/** The bytes of memory that a waiting line takes in addition to its own, rounded up. */
const ENTRY_BYTES = 400;

function createWaitingRecords({ source, memoryBytes = MEMORY_BYTES }: Comparison) {
  const { records } = sourceDefinitions[source];
  const waiting = { before: new Map<string, Buffer>(), after: new Map<string, Buffer>() };
  const otherOf = (side: RunSide) => waiting[side === 'before' ? 'after' : 'before'];
  const members = createMembers();
  let waitingBytes = 0;
  return {
    /** Whether the other run's record with this key is waiting. */
    has: (side: RunSide, key: string): boolean => otherOf(side).has(key),
    /**
     * Compares a record with the other run's record of the same key, which waits. If that has not come yet, this record
     * waits. Undefined if it waits or did not change.
     */
    take(side: RunSide, key: string, line: Buffer): LineChange | undefined {
      const found = otherOf(side).get(key);
      const sizeBytes = ENTRY_BYTES + 2 * key.length + (found ?? line).byteLength;
      if (found === undefined) {
        waiting[side].set(key, Buffer.from(line));
        waitingBytes += sizeBytes;
        if (waitingBytes > memoryBytes) throw new NotSideBySideError(`more than ${memoryBytes} bytes wait`);
        return undefined;
      }
      otherOf(side).delete(key);
      waitingBytes -= sizeBytes;
      const [before, after] = side === 'before' ? [line, found] : [found, line];
      const fields = differingFields(records, readLine(before, members), lineOf(after));
      return fields.length > 0 ? changeOf(key, before, after, fields) : undefined;
    },
    remaining(): readonly LineChange[] {
      const compare = compareRecordKeys(records.key);
      return (['before', 'after'] as const)
        .flatMap((side) => Array.from(waiting[side], ([key, line]) => changeOfOne(side, key, line)))
        .sort((a, b) => compare(a.key, b.key));
    },
  };
}

function openSides(comparison: Comparison) {
  const { before, after } = withoutEqualParts(comparison);
  return { old: openSide(comparison, before.parts), now: openSide(comparison, after.parts) };
}

function openSide({ store, source, signal }: Comparison, parts: readonly Part[]) {
  const reader = readLines({ store, parts, signal });
  const members = createMembers();
  const readKey = createLineKey(sourceDefinitions[source].records.key, members);
  let known: string | undefined;
  return {
    read: { line: reader.line, members },
    next(): boolean | Promise<boolean> {
      known = undefined;
      return reader.next();
    },
    /** The key of the current line. The call also fills `members`. */
    key(): string {
      known ??= readKey(reader);
      return known;
    },
    release: reader.release,
    close: reader.close,
  };
}

/** The two runs without the parts that both have, since the records of these did not change. */
function withoutEqualParts({ before, after }: Comparison): Pick<Comparison, 'before' | 'after'> {
  const without = (own: Comparison['after'], others: Comparison['after']) => {
    const known = new Set(others.parts.map(({ sha256 }) => sha256));
    return { parts: own.parts.filter(({ sha256 }) => !known.has(sha256)) };
  };
  return { before: without(before, after), after: without(after, before) };
}

/**
 * The names of the top-level fields that differ. Volatile fields are left out; arrays that the rules list as sets are
 * compared as sets, and numbers by their exact values.
 */
export const differingFields = (rules: RecordRules, before: ReadLine, after: Line): readonly string[] =>
  haveEqualBytes(before.line, after)
    ? NO_FIELDS
    : (differingInPlace(rules, before, after) ?? differingByName(rules, before, readLine(bytesOf(after))));

const NO_FIELDS: readonly string[] = [];

/**
 * Does the same as `differingFields`, but without parsing the later line: it reads only the values whose bytes differ.
 * The rest equals the earlier line, and that is valid. Undefined if the names or their order differ, if a name is
 * repeated, or if the lines may be different records.
 */
function differingInPlace(
  { key, volatile, sets }: RecordRules,
  before: ReadLine,
  after: Line,
): readonly string[] | undefined {
  const { line, members } = before;
  if (members.hasEscapes) return undefined;
  let changed = NO_FIELDS;
  /** The positions up to which both lines were compared. `same`: where the equal bytes after them end. */
  let [at, nowAt] = [line.start, after.start];
  let same = sameUntil(line, at, after, nowAt);
  for (let position = 0; position < members.count; position += 1) {
    const start = members.valueStarts[position] ?? 0;
    const end = members.valueEnds[position] ?? 0;
    // The byte after the value must be equal too, since the other value may be longer.
    if (end < same) continue;
    if (start > same) return undefined;
    const nowStart = nowAt + start - at;
    const nowEnd = valueEnd(after, nowStart);
    if (nowEnd === undefined) return undefined;
    [at, nowAt] = [end, nowEnd];
    same = sameUntil(line, at, after, nowAt);
    const name = nameAt(before, position);
    if (name === key.id || key.owner?.includes(name)) return undefined;
    const nameStart = members.nameStarts[position] ?? 0;
    const nameEnd = members.nameEnds[position] ?? 0;
    if (lastNamed(before, line.json.bytes, nameStart + 1, nameEnd - 1) !== position) return undefined;
    if (volatile.includes(name)) continue;
    const arePlain = isPlain(line, start, end) && isPlain(after, nowStart, nowEnd);
    const now = arePlain ? '' : after.json.bytes.toString('utf8', nowStart, nowEnd);
    if (arePlain || isChanged(valueAt(before, position), now, sets.includes(name)))
      changed = [...changed, name];
  }
  if (same < line.end || line.end - at !== after.end - nowAt) return undefined;
  return changed.length < 2 ? changed : [...changed].sort();
}

function valueEnd({ json }: Line, start: number): number | undefined {
  try {
    return skipValue(json, start, 0);
  } catch {
    return undefined;
  }
}

/** The names of the fields that differ, even if the lines have their fields in different orders. */
function differingByName({ volatile, sets }: RecordRules, before: ReadLine, after: ReadLine) {
  const old = valuesByName(before);
  const now = valuesByName(after);
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !volatile.includes(name));
  return names.filter((name) => isChanged(old.get(name), now.get(name), sets.includes(name))).sort();
}

const haveEqualBytes = (a: Line, b: Line): boolean =>
  a.end - a.start === b.end - b.start &&
  a.json.bytes.compare(b.json.bytes, b.start, b.end, a.start, a.end) === 0;

/** The index at which `a` (from `start`) first differs from `b` (from `other`), or at which one of them ends. */
function sameUntil(a: Line, start: number, b: Line, other: number): number {
  const left = a.json;
  const right = b.json;
  const shift = other - start;
  const end = Math.min(a.end, b.end - shift);
  let at = start;
  while (at + 4 <= end && left.view.getInt32(at) === right.view.getInt32(at + shift)) at += 4;
  while (at < end && left.bytes[at] === right.bytes[at + shift]) at += 1;
  return at;
}

function isChanged(before: string | undefined, after: string | undefined, isSet: boolean): boolean {
  if (before === after) return false;
  if (before === undefined || after === undefined) return true;
  return canonicalField(before, isSet) !== canonicalField(after, isSet);
}

function canonicalField(text: string, isSet: boolean): string {
  const value = exactValue(text);
  if (value === text) return text;
  if (!isSet || !Array.isArray(value)) return canonicalExact(value);
  return `[${[...new Set(value.map(canonicalExact))].sort().join(',')}]`;
}

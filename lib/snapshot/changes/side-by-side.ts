import type { Part } from '../manifest.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { LineChange } from './change.ts';
import { type Comparison, MEMORY_BYTES, type RunSide } from './comparison.ts';
import { createDifferingFields, createPairReader, isSameText, noPair } from './differing-fields.ts';
import { keyHash } from './key-hash.ts';
import { createLineKey, createQuickKey } from './line-key.ts';
import { copyOf, type Line, lineOf, readLines } from './line-reader.ts';
import { compareRecordKeys } from './record-key.ts';

/** Two runs cannot be compared side by side; the message says why. */
export class NotSideBySideError extends Error {
  override readonly name = 'NotSideBySideError';
}

/** The keys above `after`, up to `to`. Default: from the first, to the last. */
export type KeyRange = { readonly after?: string | undefined; readonly to?: string | undefined };

/** How many changes are yielded together at most. Few, since each may hold a piece of its run in memory. */
const TOGETHER = 32;

/**
 * Reads two runs side by side, each once: lines with the same bytes are the same record, and only of others are the
 * fields compared. Memory holds a piece of each run, and what waits.
 *
 * Runs in the order of their keys are merged, over a range of keys: a record that only one of them has is known at once.
 * Those in about the same order, whatever order that is, as a list that is read again is, are aligned: such a record waits
 * until it comes in the other run too; what is left was removed or added, and is yielded last, by key.
 *
 * Throws `NotSideBySideError` if a key is repeated (its last record would count) or below the one before it, or if more
 * records wait than the memory bound allows: then nothing that was yielded is certain.
 */
export async function* compareSideBySide(
  comparison: Comparison,
  order: { readonly merge: KeyRange } | 'align',
): AsyncGenerator<readonly LineChange[]> {
  const range = order === 'align' ? {} : order.merge;
  const [old, now] = [openSide(comparison, 'before', range), openSide(comparison, 'after', range)];
  const matcher = createMatcher(comparison, { old, now, doWait: order === 'align' });
  try {
    let [hasOld, hasNow] = await Promise.all([old.next(), now.next()]);
    while (hasOld || hasNow) {
      const first = matcher.take(hasOld, hasNow);
      const nextOld = hasOld && first <= 0 ? old.next() : hasOld;
      const nextNow = hasNow && first >= 0 ? now.next() : hasNow;
      const isMidway = typeof nextOld === 'boolean' && typeof nextNow === 'boolean';
      [hasOld, hasNow] = isMidway ? [nextOld, nextNow] : await Promise.all([nextOld, nextNow]);
      if (isMidway && matcher.changes() < TOGETHER) continue;
      yield matcher.release();
      if (isMidway) continue;
      old.release();
      now.release();
    }
    yield [...matcher.release(), ...matcher.left()];
  } finally {
    await Promise.all([old.close(), now.close()]);
  }
}

type Side = ReturnType<typeof openSide>;
type Sides = { readonly old: Side; readonly now: Side; readonly doWait: boolean };

/** Finds the changes of the lines that two sides come to. */
function createMatcher(comparison: Comparison, { old, now, doWait }: Sides) {
  const { records } = sourceDefinitions[comparison.source];
  const compare = compareRecordKeys(records.key);
  const [readPair, differing] = [createPairReader(records), createDifferingFields(records)];
  const pair = noPair();
  let changes: LineChange[] = [];
  const waiting = doWait ? createWaiting(comparison, (change) => changes.push(change)) : undefined;
  const keys = waiting ?? createRisingKeys(compare);

  function match(key: string, fields: readonly string[]): number {
    keys.both(key);
    if (fields.length > 0) changes.push(changeOf(key, old.line, now.line, fields));
    return 0;
  }

  /** Takes lines of different records; less than 0 if only the old one was taken, more if only the new one. */
  function takeOthers(oldKey: string | undefined, nowKey: string | undefined): number {
    if (waiting !== undefined) {
      if (oldKey !== undefined) waiting.take('before', oldKey, old.line);
      if (nowKey !== undefined) waiting.take('after', nowKey, now.line);
      return 0;
    }
    const first = oldKey === undefined ? 1 : nowKey === undefined ? -1 : compare(oldKey, nowKey);
    const [side, key, { line }] =
      first < 0 ? (['before', oldKey ?? '', old] as const) : (['after', nowKey ?? '', now] as const);
    keys.one(side, key);
    changes.push(changeOfOne(side, key, bytesOf(line)));
    return first;
  }

  return {
    /** Takes the current lines of both sides, or of the first of them in the order of keys: 0 if both. */
    take(hasOld: boolean, hasNow: boolean): number {
      if (hasOld && hasNow && isSameText(old.line, now.line)) return match(old.quickKey(), NO_FIELDS);
      if (hasOld && hasNow && readPair(old.line, now.line, pair)) return match(pair.key, pair.fields);
      const [oldKey, nowKey] = [hasOld ? old.key() : undefined, hasNow ? now.key() : undefined];
      if (oldKey === undefined || oldKey !== nowKey) return takeOthers(oldKey, nowKey);
      return match(oldKey, differing(old.line, now.line));
    },
    /** How many changes were found. */
    changes: () => changes.length,
    /** The changes that were found, which are then forgotten. */
    release(): readonly LineChange[] {
      const released = changes;
      changes = [];
      return released;
    },
    /** The changes of the records that are still waiting. */
    left: (): readonly LineChange[] => waiting?.left(compare) ?? [],
  };
}

const NO_FIELDS: readonly string[] = [];

const bytesOf = ({ json, start, end }: Line): Buffer => json.bytes.subarray(start, end);

const changeOf = (key: string, before: Line, after: Line, fields: readonly string[]): LineChange => ({
  change: 'changed',
  key,
  before: bytesOf(before),
  after: bytesOf(after),
  fields,
});

const changeOfOne = (side: RunSide, key: string, line: Buffer): LineChange =>
  side === 'before' ? { change: 'removed', key, before: line } : { change: 'added', key, after: line };

/** Sees to it that the keys of each run rise. */
function createRisingKeys(compare: (a: string, b: string) => number) {
  const last: Record<RunSide, string | undefined> = { before: undefined, after: undefined };
  function one(side: RunSide, key: string): void {
    const known = last[side];
    if (known !== undefined && compare(known, key) >= 0)
      throw new NotSideBySideError(`${key} follows ${known} in the ${side} run`);
    last[side] = key;
  }
  return {
    one,
    both(key: string): void {
      one('before', key);
      one('after', key);
    },
  };
}

/** Up to here the hashes of all keys may be held: 128 MB at most. */
const MOST_RECORDS = 4_000_000;
/** The size of what surrounds a waiting line in memory, rounded up. */
const ENTRY_BYTES = 400;

/** Holds records until they come in the other run too. */
function createWaiting(
  { source, before, after, memoryBytes = MEMORY_BYTES }: Comparison,
  changed: (change: LineChange) => void,
) {
  const differing = createDifferingFields(sourceDefinitions[source].records);
  const total = Math.max(countOf(before?.parts ?? []), countOf(after.parts));
  if (total > MOST_RECORDS) throw new NotSideBySideError(`${total} records, more than ${MOST_RECORDS}`);
  const seen = createSeenHashes(total);
  const waiting = { before: new Map<string, Buffer>(), after: new Map<string, Buffer>() };
  let waitingBytes = 0;

  function both(key: string): void {
    if (!seen(keyHash(key))) throw new NotSideBySideError(`${key} may be repeated`);
  }

  return {
    one: (_side: RunSide, key: string): void => both(key),
    /** A record was the next one in both runs. */
    both,
    /** Takes the next record of one run. */
    take(side: RunSide, key: string, line: Line): void {
      const other = side === 'before' ? 'after' : 'before';
      const found = waiting[other].get(key);
      if (found === undefined) {
        if (waiting[side].has(key)) throw new NotSideBySideError(`${key} is repeated`);
        const bytes = copyOf(line);
        waiting[side].set(key, bytes);
        waitingBytes += sizeOf(key, bytes);
        if (waitingBytes > memoryBytes) throw new NotSideBySideError(`more than ${memoryBytes} bytes wait`);
        return;
      }
      waiting[other].delete(key);
      waitingBytes -= sizeOf(key, found);
      both(key);
      const [old, now] = side === 'before' ? [line, lineOf(found)] : [lineOf(found), line];
      const fields = differing(old, now);
      if (fields.length > 0) changed(changeOf(key, old, now, fields));
    },
    /** The changes of the records that still wait, by key; one that was in both before may be repeated. */
    left(compare: (a: string, b: string) => number): readonly LineChange[] {
      const left = (['before', 'after'] as const).flatMap((side) =>
        Array.from(waiting[side], ([key, line]) => changeOfOne(side, key, line)),
      );
      for (const { key } of left) both(key);
      return left.sort((a, b) => compare(a.key, b.key));
    },
  };
}

const countOf = (parts: readonly { readonly records: number }[]): number =>
  parts.reduce((sum, { records }) => sum + records, 0);

const sizeOf = (key: string, line: Buffer): number => ENTRY_BYTES + 2 * key.length + line.byteLength;

/** How full the table of hashes may be. */
const FILL = 0.5;
const EMPTY = -1;

/** Makes a function that adds a hash, a whole number from 0 that a double holds; false if it was there. 16 to 32 bytes each. */
function createSeenHashes(most: number): (hash: number) => boolean {
  const size = 2 ** Math.ceil(Math.log2(Math.max(16, most / FILL)));
  const table = new Float64Array(size).fill(EMPTY);
  return (hash) => {
    let at = hash % size;
    while (table[at] !== EMPTY) {
      if (table[at] === hash) return false;
      at = (at + 1) % size;
    }
    table[at] = hash;
    return true;
  };
}

/**
 * Opens a run before its first line in a range of keys. Where a part lies in the range as a whole, by the keys in its
 * entry, none of its lines are read for that: only a run that is not in order could have others there.
 */
function openSide({ store, source, signal, ...runs }: Comparison, side: RunSide, range: KeyRange) {
  const parts = runs[side]?.parts ?? [];
  const rule = sourceDefinitions[source].records.key;
  const compare = compareRecordKeys(rule);
  const [readKey, readQuickKey] = [createLineKey(rule), createQuickKey(rule)];
  const inside = keysOfPartsInside(parts, range, compare);
  const reader = readLines({ store, parts, signal });
  let isBefore = range.after !== undefined;
  /** The part that is read, and whether it lies in the range as a whole. */
  let [known, isAllInside]: [string | undefined, boolean] = [undefined, false];

  /** True if the current line is in the range; undefined if it comes before it. */
  function isInside(): boolean | undefined {
    const part = reader.partKey();
    if (part !== known) [known, isAllInside] = [part, inside.has(part ?? '')];
    if (isAllInside) return true;
    if (isBefore && range.after !== undefined) {
      if (compare(readKey(reader), range.after) <= 0) return undefined;
      isBefore = false;
    }
    return range.to === undefined || compare(readKey(reader), range.to) <= 0;
  }

  async function advance(first: boolean | Promise<boolean>): Promise<boolean> {
    for (let found = first; ; found = reader.next()) {
      if (!(await found)) return false;
      const isIn = isInside();
      if (isIn !== undefined) return isIn;
    }
  }

  return {
    line: reader.line,
    /** Moves to the next line in the range: false at its end. */
    next(): boolean | Promise<boolean> {
      const found = reader.next();
      return found === true ? (isInside() ?? advance(reader.next())) : advance(found);
    },
    /** The key of the current line. */
    key: () => readKey(reader),
    /** The same for a line whose fields do not matter. */
    quickKey: () => readQuickKey(reader),
    release: reader.release,
    close: reader.close,
  };
}

/** The object keys of the parts whose records are all in the range; of an entry without record keys, that is unknown. */
function keysOfPartsInside(
  parts: readonly Pick<Part, 'key' | 'firstKey' | 'lastKey'>[],
  { after, to }: KeyRange,
  compare: (a: string, b: string) => number,
): ReadonlySet<string> {
  const inside = parts.filter(
    ({ firstKey, lastKey }) =>
      (after === undefined || (firstKey !== '' && compare(firstKey, after) > 0)) &&
      (to === undefined || (lastKey !== '' && compare(lastKey, to) <= 0)),
  );
  return new Set(inside.map(({ key }) => key));
}

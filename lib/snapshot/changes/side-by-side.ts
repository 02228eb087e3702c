import type { Part } from '../manifest.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { LineChange } from './change.ts';
import { type Comparison, MEMORY_BYTES, type RunSide } from './comparison.ts';
import {
  differingByName,
  differingFields,
  differingInPlace,
  isSameText,
  NO_FIELDS,
} from './differing-fields.ts';
import { keyHash } from './key-hash.ts';
import { createLineKey, createQuickKey } from './line-key.ts';
import { noMembers, readMembers } from './line-members.ts';
import { bytesOf, copyOf, type Line, lineOf, readLines } from './line-reader.ts';
import { compareRecordKeys } from './record-key.ts';

/** Two runs cannot be compared side by side; the message says why. */
export class NotSideBySideError extends Error {
  override readonly name = 'NotSideBySideError';
}

/** How many changes are yielded together at most. Few, since each may hold a piece of its run in memory. */
const TOGETHER = 32;

/**
 * Reads two runs side by side, each once: lines with the same bytes are the same record, and only of others are the
 * fields compared. Memory holds a piece of each run, and what waits.
 *
 * Runs in the order of their keys are merged: a record that only one of them has is known at once, and parts that are the
 * same in both are not read.
 * Those in about the same order, whatever order that is, as a list that is read again is, are aligned: such a record waits
 * until it comes in the other run too; what is left was removed or added, and is yielded last, by key.
 *
 * Throws `NotSideBySideError` if a key is repeated (its last record would count) or below the one before it, or if more
 * records wait than the memory bound allows: then nothing that was yielded is certain.
 */
export async function* compareSideBySide(
  comparison: Comparison,
  order: 'merge' | 'align',
): AsyncGenerator<readonly LineChange[]> {
  const { records } = sourceDefinitions[comparison.source];
  const { before, after } = order === 'merge' ? withoutEqualParts(comparison) : comparison;
  const [old, now] = [openSide(comparison, before.parts), openSide(comparison, after.parts)];
  let changes: LineChange[] = [];
  const changed = (change: LineChange) => void changes.push(change);
  const pairing = order === 'align' ? createWaiting(comparison, changed) : createMerge(comparison, changed);

  /** Takes the current lines of both sides (0), or only that of the old side (less than 0) or of the new one. */
  function take(hasOld: boolean, hasNow: boolean): number {
    const areSame = hasOld && hasNow && isSameText(old.read.line, now.read.line);
    const oldKey = areSame ? old.quickKey() : hasOld ? old.key() : undefined;
    const inPlace = areSame
      ? NO_FIELDS
      : hasOld && hasNow
        ? differingInPlace(records, old.read, now.read.line)
        : undefined;
    const nowKey = inPlace !== undefined ? oldKey : hasNow ? now.key() : undefined;
    if (oldKey === undefined || oldKey !== nowKey)
      return pairing.apart(
        oldKey === undefined ? undefined : { key: oldKey, line: old.read.line },
        nowKey === undefined ? undefined : { key: nowKey, line: now.read.line },
      );
    pairing.both(oldKey);
    const fields = inPlace ?? differingByName(records, old.read, now.read);
    if (fields.length > 0) changed(changeOf(oldKey, old.read.line, now.read.line, fields));
    return 0;
  }

  try {
    let [hasOld, hasNow] = await Promise.all([old.next(), now.next()]);
    while (hasOld || hasNow) {
      const first = take(hasOld, hasNow);
      const nextOld = hasOld && first <= 0 ? old.next() : hasOld;
      const nextNow = hasNow && first >= 0 ? now.next() : hasNow;
      const isMidway = typeof nextOld === 'boolean' && typeof nextNow === 'boolean';
      [hasOld, hasNow] = isMidway ? [nextOld, nextNow] : await Promise.all([nextOld, nextNow]);
      if (isMidway && changes.length < TOGETHER) continue;
      yield changes;
      changes = [];
      if (isMidway) continue;
      old.release();
      now.release();
    }
    yield [...changes, ...pairing.left()];
  } finally {
    await Promise.all([old.close(), now.close()]);
  }
}

export const changeOf = (key: string, before: Line, after: Line, fields: readonly string[]): LineChange => ({
  change: 'changed',
  key,
  before: bytesOf(before),
  after: bytesOf(after),
  fields,
});

export const changeOfOne = (side: RunSide, key: string, line: Buffer): LineChange =>
  side === 'before' ? { change: 'removed', key, before: line } : { change: 'added', key, after: line };

/** A line of one run that is not the same record as the line of the other run. */
type OneLine = { readonly key: string; readonly line: Line };

/** What is made of the lines of two runs. */
type Pairing = {
  /** Both have this record next. */
  both(key: string): void;
  /** Takes lines of different records: 0 for both, less than 0 for only the old one, more for only the new one. */
  apart(old: OneLine | undefined, now: OneLine | undefined): number;
  /** What changed according to the records that are still waiting at the end. */
  left(): readonly LineChange[];
};

function createMerge({ source }: Comparison, changed: (change: LineChange) => void): Pairing {
  const compare = compareRecordKeys(sourceDefinitions[source].records.key);
  const last: Record<RunSide, string | undefined> = { before: undefined, after: undefined };
  function rise(side: RunSide, key: string): void {
    const known = last[side];
    if (known !== undefined && compare(known, key) >= 0)
      throw new NotSideBySideError(`${key} follows ${known} in the ${side} run`);
    last[side] = key;
  }
  return {
    both(key) {
      rise('before', key);
      rise('after', key);
    },
    apart(old, now) {
      const first = old === undefined ? 1 : now === undefined ? -1 : compare(old.key, now.key);
      const [side, one] = first < 0 ? (['before', old] as const) : (['after', now] as const);
      if (one === undefined) return first;
      rise(side, one.key);
      changed(changeOfOne(side, one.key, bytesOf(one.line)));
      return first;
    },
    left: () => [],
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
): Pairing {
  const { records } = sourceDefinitions[source];
  const compare = compareRecordKeys(records.key);
  const total = Math.max(countOf(before.parts), countOf(after.parts));
  if (total > MOST_RECORDS) throw new NotSideBySideError(`${total} records, more than ${MOST_RECORDS}`);
  const seen = createSeenHashes(total);
  const waiting = { before: new Map<string, Buffer>(), after: new Map<string, Buffer>() };
  const members = noMembers();
  let waitingBytes = 0;

  function both(key: string): void {
    if (!seen(keyHash(key))) throw new NotSideBySideError(`${key} may be repeated`);
  }

  function take(side: RunSide, { key, line }: OneLine): void {
    const other = waiting[side === 'before' ? 'after' : 'before'];
    const found = other.get(key);
    if (found === undefined) {
      if (waiting[side].has(key)) throw new NotSideBySideError(`${key} is repeated`);
      const bytes = copyOf(line);
      waiting[side].set(key, bytes);
      waitingBytes += sizeOf(key, bytes);
      if (waitingBytes > memoryBytes) throw new NotSideBySideError(`more than ${memoryBytes} bytes wait`);
      return;
    }
    other.delete(key);
    waitingBytes -= sizeOf(key, found);
    both(key);
    const [old, now] = side === 'before' ? [line, lineOf(found)] : [lineOf(found), line];
    if (isSameText(old, now)) return;
    readMembers(old, members);
    const fields = differingFields(records, { line: old, members }, now);
    if (fields.length > 0) changed(changeOf(key, old, now, fields));
  }

  return {
    both,
    apart(old, now) {
      if (old !== undefined) take('before', old);
      if (now !== undefined) take('after', now);
      return 0;
    },
    left() {
      const left = (['before', 'after'] as const).flatMap((side) =>
        Array.from(waiting[side], ([key, line]) => changeOfOne(side, key, line)),
      );
      // One that was in both before may be repeated.
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

/** Opens a run before its first line. */
function openSide({ store, source, signal }: Comparison, parts: readonly Part[]) {
  const rule = sourceDefinitions[source].records.key;
  const reader = readLines({ store, parts, signal });
  const members = noMembers();
  const [readKey, readQuickKey] = [createLineKey(rule, members), createQuickKey(rule)];
  let known: string | undefined;
  return {
    read: { line: reader.line, members },
    /** Moves to the next line: false at the end. */
    next(): boolean | Promise<boolean> {
      known = undefined;
      return reader.next();
    },
    /** The key of the current line, whose members are known then. */
    key(): string {
      known ??= readKey(reader);
      return known;
    },
    /** The same for a line whose fields do not matter. */
    quickKey: () => readQuickKey(reader),
    release: reader.release,
    close: reader.close,
  };
}

/** Two runs without the parts that both have, unless the keys in their lists of parts are in another order, or unknown. */
function withoutEqualParts({ source, before, after }: Comparison): Pick<Comparison, 'before' | 'after'> {
  const compare = compareRecordKeys(sourceDefinitions[source].records.key);
  const areOrdered = ({ parts }: Comparison['after']) =>
    parts.every(({ firstKey, lastKey }, at) => {
      const previous = parts[at - 1]?.lastKey;
      const isBehind = previous === undefined || compare(previous, firstKey) < 0;
      return firstKey !== '' && lastKey !== '' && isBehind && compare(firstKey, lastKey) <= 0;
    });
  if (!areOrdered(before) || !areOrdered(after)) return { before, after };
  const without = (own: Comparison['after'], others: Comparison['after']) => {
    const known = new Set(others.parts.map(({ sha256 }) => sha256));
    return { parts: own.parts.filter(({ sha256 }) => !known.has(sha256)) };
  };
  return { before: without(before, after), after: without(after, before) };
}

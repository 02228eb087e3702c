import { sourceDefinitions } from '../sources/sources.ts';
import { changeOf, type LineChange } from './change.ts';
import { MEMORY_BYTES } from './compare-in-passes.ts';
import type { Comparison } from './comparison.ts';
import type { RunSide } from './comparison-events.ts';
import { createDifferingFields } from './differing-fields.ts';
import { keyHash } from './key-hash.ts';
import { createLineKey } from './line-key.ts';
import { createPairReader, noPair } from './line-pair.ts';
import { type Line, lineOf, readLines } from './line-reader.ts';
import { compareRecordKeys } from './record-key.ts';
import { createSeenHashes } from './seen-hashes.ts';

/** Two runs are too different in order to be aligned, or may repeat a key. */
export class NotAlignedError extends Error {
  override readonly name = 'NotAlignedError';
}

/** Up to here the hashes of all keys may be held: 128 MB at most. */
const MOST_RECORDS = 4_000_000;
/** How many changes are yielded together at most. */
const TOGETHER = 32;
/** The size of what surrounds a waiting line in memory, rounded up. */
const ENTRY_BYTES = 400;

/**
 * Compares two runs whose records are in about the same order, whatever order that is, as a list that is read again is:
 * both are read side by side, each once, and a record waits in memory until it comes in the other run too. What is left
 * was removed or added, and is yielded last, by key. Throws `NotAlignedError` if more records wait than the memory bound
 * allows, or if a key seems to be repeated (the last record would count): then nothing that was yielded is certain.
 */
export async function* alignRuns(comparison: Comparison): AsyncGenerator<readonly LineChange[]> {
  const { store, source, signal, memoryBytes = MEMORY_BYTES } = comparison;
  if (!(memoryBytes > 0)) throw new RangeError(`memoryBytes: expected more than 0, got ${memoryBytes}`);
  const { records } = sourceDefinitions[source];
  const total = recordsOf(comparison);
  if (total > MOST_RECORDS) throw new NotAlignedError(`${total} records, more than ${MOST_RECORDS}`);
  const pairs = createPairs(comparison, createSeenHashes(total), memoryBytes);
  const keyOf = { before: createLineKey(records.key), after: createLineKey(records.key) };
  const [before, after] = [
    readLines({ store, parts: comparison.before?.parts ?? [], signal }),
    readLines({ store, parts: comparison.after.parts, signal }),
  ];
  try {
    let [hasOld, hasNow] = [true, true];
    while (hasOld || hasNow) {
      const [old, now] = [hasOld && before.next(), hasNow && after.next()];
      const areKnown = typeof old === 'boolean' && typeof now === 'boolean';
      [hasOld, hasNow] = areKnown ? [old, now] : await Promise.all([old, now]);
      if (pairs.changes() >= TOGETHER || !areKnown) yield pairs.release();
      if (!areKnown) {
        before.release();
        after.release();
      }
      if (hasOld && hasNow && pairs.matchLines(before.line, after.line)) continue;
      const oldKey = hasOld ? keyOf.before(before) : undefined;
      const nowKey = hasNow ? keyOf.after(after) : undefined;
      if (oldKey !== undefined && oldKey === nowKey) pairs.match(oldKey, before.line, after.line);
      else {
        if (oldKey !== undefined) pairs.take('before', oldKey, before.line);
        if (nowKey !== undefined) pairs.take('after', nowKey, after.line);
      }
    }
    yield pairs.release();
    yield pairs.left();
  } finally {
    await Promise.all([before.close(), after.close()]);
  }
}

/** Finds the records of both runs that belong together; those without their counterpart wait for it. */
function createPairs({ source }: Comparison, matched: SeenHashes, memoryBytes: number) {
  const { records } = sourceDefinitions[source];
  const differing = createDifferingFields(records);
  const readPair = createPairReader(records);
  const pair = noPair();
  const waiting = { before: new Map<string, Buffer>(), after: new Map<string, Buffer>() };
  let waitingBytes = 0;
  let changes: LineChange[] = [];

  function match(key: string, before: Line, after: Line, fieldsOf = differing): void {
    if (!matched.add(keyHash(key))) throw new NotAlignedError(`${key} may be repeated`);
    const change = changeOf(key, before, after, fieldsOf);
    if (change !== undefined) changes.push(change);
  }

  function wait(side: RunSide, key: string, { json, start, end }: Line): void {
    const bytes = Buffer.from(json.bytes.subarray(start, end));
    if (waiting[side].has(key)) throw new NotAlignedError(`${key} is repeated`);
    waiting[side].set(key, bytes);
    waitingBytes += sizeOf(key, bytes);
    if (waitingBytes > memoryBytes) throw new NotAlignedError(`more than ${memoryBytes} bytes wait`);
  }

  return {
    /** Adds a record that is the next one in both runs. */
    match,
    /** The same, unless the lines are not certain to be of one record, or unusual: false then. */
    matchLines(before: Line, after: Line): boolean {
      if (!readPair(before, after, pair)) return false;
      match(pair.key, before, after, () => pair.fields);
      return true;
    },
    /** Adds the next record of one run. */
    take(side: RunSide, key: string, line: Line): void {
      const other = waiting[side === 'before' ? 'after' : 'before'];
      const counterpart = other.get(key);
      if (counterpart === undefined) {
        wait(side, key, line);
        return;
      }
      other.delete(key);
      waitingBytes -= sizeOf(key, counterpart);
      if (side === 'before') match(key, line, lineOf(counterpart));
      else match(key, lineOf(counterpart), line);
    },
    /** How many changes were found. */
    changes: () => changes.length,
    /** The changes that were found, which are then forgotten. */
    release(): readonly LineChange[] {
      const released = changes;
      changes = [];
      return released;
    },
    /** The changes of the records that are still waiting, by key. */
    left: () => leftOf(waiting.before, waiting.after, matched, compareRecordKeys(records.key)),
  };
}

type SeenHashes = ReturnType<typeof createSeenHashes>;

const countOf = (parts: readonly { readonly records: number }[]): number =>
  parts.reduce((sum, { records }) => sum + records, 0);

const recordsOf = ({ before, after }: Comparison): number =>
  Math.max(countOf(before?.parts ?? []), countOf(after.parts));

const sizeOf = (key: string, line: Buffer): number => ENTRY_BYTES + 2 * key.length + line.byteLength;

/** The changes of records that are in one run only; a key that was in both before may be repeated. */
function leftOf(
  before: ReadonlyMap<string, Buffer>,
  after: ReadonlyMap<string, Buffer>,
  matched: SeenHashes,
  compare: (a: string, b: string) => number,
): readonly LineChange[] {
  const changes: LineChange[] = [
    ...[...before].map(([key, line]) => ({ change: 'removed' as const, key, before: line })),
    ...[...after].map(([key, line]) => ({ change: 'added' as const, key, after: line })),
  ];
  for (const { key } of changes)
    if (!matched.add(keyHash(key))) throw new NotAlignedError(`${key} may be repeated`);
  return changes.sort((a, b) => compare(a.key, b.key));
}

import type { Store } from '../../store/index.ts';
import type { Part } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { changeOf, changeOfOne, type LineChange } from './change.ts';
import { differingByName, differingFields, differingInPlace, isSameText } from './differing-fields.ts';
import { createLineKey } from './line-key.ts';
import { noMembers, readLine } from './line-members.ts';
import { bytesOf, lineOf, readLines } from './line-reader.ts';
import { compareRecordKeys } from './record-key.ts';

/** Its records, and the ids whose records it lacks because they could not be read. */
type ComparedRun = {
  readonly parts: readonly Part[];
  readonly missing?: readonly { readonly id: string }[];
};

/** Two runs of a source to compare, each with every key once. */
export type Comparison = {
  readonly store: Store;
  readonly source: Source;
  readonly before: ComparedRun;
  readonly after: ComparedRun;
  /** The most memory that the records may take at once, in bytes. Default 64 MB. A single record may exceed it. */
  readonly memoryBytes?: number;
  readonly signal?: AbortSignal | undefined;
};

/** A function of 1 GB has room for more, but none is needed. */
export const MEMORY_BYTES = 64_000_000;

export type RunSide = 'before' | 'after';

/** More records wait than the memory bound allows: nothing that was yielded is certain. */
export class NotSideBySideError extends Error {
  override readonly name = 'NotSideBySideError';
}

/** How many changes are yielded together at most. Few, since each may hold a piece of its run in memory. */
const TOGETHER = 32;

/**
 * Reads two runs side by side, each once, without the parts that both have; only lines with other bytes are looked
 * into. A record that is not next in the other run waits until it comes there too, while the run that is behind catches
 * up; what is left was removed or added, and is yielded last, by key. Throws `NotSideBySideError` if more waits than
 * the memory bound allows.
 */
export async function* compareSideBySide(comparison: Comparison): AsyncGenerator<readonly LineChange[]> {
  const { records } = sourceDefinitions[comparison.source];
  const { before, after } = withoutEqualParts(comparison);
  const [old, now] = [openSide(comparison, before.parts), openSide(comparison, after.parts)];
  const waiting = createWaiting(comparison);
  let changes: LineChange[] = [];

  /** Takes the current lines of both sides: true for the one to move on. */
  function take(): readonly [boolean, boolean] {
    if (isSameText(old.read.line, now.read.line)) return [true, true];
    const key = old.key();
    const inPlace = differingInPlace(records, old.read, now.read.line);
    if (inPlace === undefined && key !== now.key()) {
      const [isBehind, isAhead] = [waiting.has('before', key), waiting.has('after', now.key())];
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
      const [moveOld, moveNow] = hasOld && hasNow ? take() : [hasOld, hasNow];
      if (!hasOld || !hasNow) takeOne(hasOld ? 'before' : 'after');
      const nextOld = moveOld ? old.next() : hasOld;
      const nextNow = moveNow ? now.next() : hasNow;
      const isMidway = typeof nextOld === 'boolean' && typeof nextNow === 'boolean';
      [hasOld, hasNow] = isMidway ? [nextOld, nextNow] : await Promise.all([nextOld, nextNow]);
      if (isMidway && changes.length < TOGETHER) continue;
      yield changes;
      changes = [];
      if (isMidway) continue;
      old.release();
      now.release();
    }
    yield [...changes, ...waiting.left()];
  } finally {
    await Promise.all([old.close(), now.close()]);
  }
}

/** The size of what surrounds a waiting line in memory, rounded up. */
const ENTRY_BYTES = 400;

function createWaiting({ source, memoryBytes = MEMORY_BYTES }: Comparison) {
  const { records } = sourceDefinitions[source];
  const waiting = { before: new Map<string, Buffer>(), after: new Map<string, Buffer>() };
  const otherOf = (side: RunSide) => waiting[side === 'before' ? 'after' : 'before'];
  const members = noMembers();
  let waitingBytes = 0;
  return {
    /** True if the other run had this record before. */
    has: (side: RunSide, key: string): boolean => otherOf(side).has(key),
    /** What changed in a record of one run, unless it has to wait for that of the other. */
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
    left(): readonly LineChange[] {
      const compare = compareRecordKeys(records.key);
      return (['before', 'after'] as const)
        .flatMap((side) => Array.from(waiting[side], ([key, line]) => changeOfOne(side, key, line)))
        .sort((a, b) => compare(a.key, b.key));
    },
  };
}

function openSide({ store, source, signal }: Comparison, parts: readonly Part[]) {
  const reader = readLines({ store, parts, signal });
  const members = noMembers();
  const readKey = createLineKey(sourceDefinitions[source].records.key, members);
  let known: string | undefined;
  return {
    read: { line: reader.line, members },
    next(): boolean | Promise<boolean> {
      known = undefined;
      return reader.next();
    },
    /** The key of the current line, whose members are known then. */
    key(): string {
      known ??= readKey(reader);
      return known;
    },
    release: reader.release,
    close: reader.close,
  };
}

/** Two runs without the parts that both have: no record of them changed. */
export function withoutEqualParts({ before, after }: Comparison): Pick<Comparison, 'before' | 'after'> {
  const without = (own: Comparison['after'], others: Comparison['after']) => {
    const known = new Set(others.parts.map(({ sha256 }) => sha256));
    return { parts: own.parts.filter(({ sha256 }) => !known.has(sha256)) };
  };
  return { before: without(before, after), after: without(after, before) };
}

import { sourceDefinitions } from '../sources/sources.ts';
import type { LineChange } from './change.ts';
import { type Comparison, MEMORY_BYTES, type RunSide } from './comparison.ts';
import { differingFields, isSameText } from './differing-fields.ts';
import { type HashRange, keyHash } from './key-hash.ts';
import { createLineKey } from './line-key.ts';
import { noMembers, readLine } from './line-members.ts';
import { copyOf, type Line, lineOf, readLines } from './line-reader.ts';
import type { PartToRead } from './part-chunks.ts';
import { compareRecordKeys } from './record-key.ts';
import { changeOf, changeOfOne } from './side-by-side.ts';

/** The parts of both runs to read. */
export type PartsOfRuns = Readonly<Record<RunSide, readonly PartToRead['part'][]>>;

/**
 * Compares the records whose key hash is in a range, in any order: they are held in memory. If they do not fit, each half
 * of the range is compared by itself, and all is read again. If a key is repeated, its last record counts. The changes of
 * what was held together are in the order of their keys.
 */
export async function* compareByHash(
  comparison: Comparison,
  parts: PartsOfRuns,
  range: HashRange,
): AsyncGenerator<readonly LineChange[]> {
  const held = await hold(comparison, parts, range);
  if (held !== undefined) {
    yield changesOf(comparison, held);
    return;
  }
  const middle = range.from + Math.ceil((range.to - range.from) / 2);
  yield* compareByHash(comparison, parts, { from: range.from, to: middle });
  yield* compareByHash(comparison, parts, { from: middle, to: range.to });
}

/** A key's lines in both runs: the same one for both if they are equal. */
type HeldRecord = { before: Buffer | undefined; after: Buffer | undefined };
type Held = ReadonlyMap<string, HeldRecord>;

/** Undefined if the records take more than the memory bound, and the range can be halved. */
async function hold(comparison: Comparison, parts: PartsOfRuns, range: HashRange): Promise<Held | undefined> {
  const { store, source, signal, memoryBytes = MEMORY_BYTES, observe } = comparison;
  const { records: rules } = sourceDefinitions[source];
  const [keyOf, members] = [createLineKey(rules.key), noMembers()];
  const records = new Map<string, HeldRecord>();
  let bytes = 0;

  const isUnchanged = (before: Buffer, line: Line) =>
    isSameText(lineOf(before), line) || differingFields(rules, readLine(before, members), line).length === 0;

  function add(side: RunSide, key: string, line: Line): void {
    const known = records.get(key);
    const record = known ?? { before: undefined, after: undefined };
    if (known === undefined) records.set(key, record);
    else bytes -= sizeOf(key, known);
    if (record[side] !== undefined) observe?.({ kind: 'repeated-key', side, key });
    // Most records do not change: those that are equal are held once.
    const isEqual = side === 'after' && record.before !== undefined && isUnchanged(record.before, line);
    record[side] = isEqual ? record.before : copyOf(line);
    bytes += sizeOf(key, record);
  }

  for (const side of ['before', 'after'] as const) {
    const reader = readLines({ store, parts: parts[side], signal });
    try {
      for (let found = reader.next(); found === true || (await found); found = reader.next()) {
        const key = keyOf(reader);
        const hash = keyHash(key);
        if (hash >= range.from && hash < range.to) add(side, key, reader.line);
        reader.release();
        if (bytes > memoryBytes && records.size > 1 && range.to - range.from > 1) return undefined;
      }
    } finally {
      await reader.close();
    }
  }
  return records;
}

function changesOf({ source }: Comparison, records: Held): readonly LineChange[] {
  const { records: rules } = sourceDefinitions[source];
  const compare = compareRecordKeys(rules.key);
  const changes = Array.from(records, ([key, { before, after }]): readonly LineChange[] => {
    if (before === after) return [];
    if (before === undefined) return after === undefined ? [] : [changeOfOne('after', key, after)];
    if (after === undefined) return [changeOfOne('before', key, before)];
    const [old, now] = [readLine(before), lineOf(after)];
    return [changeOf(key, old.line, now, differingFields(rules, old, now))];
  });
  return changes.flat().sort((a, b) => compare(a.key, b.key));
}

/** The size of a map entry and its object: about 190 on V8 in Node 24, rounded up. */
const ENTRY_BYTES = 250;
/** The size of the object around the bytes of a line: about 120, rounded up. */
const LINE_BYTES = 150;

/** The most bytes that a key can take: two a character; a line that is held for both sides counts once. */
function sizeOf(key: string, { before, after }: HeldRecord): number {
  const sizeOfLine = (line: Buffer | undefined) => (line === undefined ? 0 : LINE_BYTES + line.byteLength);
  return ENTRY_BYTES + 2 * key.length + sizeOfLine(before) + (after === before ? 0 : sizeOfLine(after));
}

import { sourceDefinitions } from '../sources/sources.ts';
import { changeOf, type LineChange } from './change.ts';
import type { Comparison } from './comparison.ts';
import type { RunSide } from './comparison-events.ts';
import { createDifferingFields } from './differing-fields.ts';
import { createHeldRecords } from './held-records.ts';
import { HASH_SPACE } from './key-hash.ts';
import { createLineKey } from './line-key.ts';
import { lineOf, readLines } from './line-reader.ts';
import type { PartToRead } from './part-chunks.ts';
import { compareRecordKeys } from './record-key.ts';

/** The bytes of records that a pass may hold; the estimate of a record's size is an upper bound (`held-records.ts`). */
export const MEMORY_BYTES = 128_000_000;
/** How full the next pass should be: hashes are spread evenly, but not perfectly. */
const FILL = 0.9;

/** Which key hashes are compared: from `from` up to, but not including, `to`. Records with others may be there too. */
export type HashRange = { readonly from: number; readonly to: number };

/**
 * Compares two runs in any order: each pass reads both and holds the records whose key hash is in its range. A range
 * that turns out to be too wide for the memory bound is narrowed while it is read, and the next pass begins at its end.
 * Changes are ordered by pass, and within a pass by key. For runs that need more than a few passes, `compareByHash`
 * partitions them first.
 */
export async function* compareInPasses(
  comparison: Comparison,
  { from: first, to: end }: HashRange = { from: 0, to: HASH_SPACE },
  read: Readonly<Record<RunSide, readonly PartToRead['part'][]>> = partsOf(comparison),
): AsyncGenerator<readonly LineChange[]> {
  const { memoryBytes = MEMORY_BYTES, observe } = comparison;
  if (!(memoryBytes > 0)) throw new RangeError(`memoryBytes: expected more than 0, got ${memoryBytes}`);
  const differing = createDifferingFields(sourceDefinitions[comparison.source].records);
  const isEqual: Parameters<typeof createHeldRecords>[1]['isEqual'] = (before, after) =>
    differing(before, after).length === 0;
  let [from, width] = [first, end - first];
  for (let pass = 1; from < end; pass += 1) {
    const range = { from, to: Math.min(from + width, end) };
    const held = createHeldRecords(range, { memoryBytes, isEqual, observe });
    for (const side of ['before', 'after'] as const) await hold(comparison, side, read[side], held);
    yield changesOf(comparison, held, differing);
    observe?.({ kind: 'pass', pass, records: held.records.size });
    const perHash = held.bytes() / (held.to() - from);
    from = held.to();
    width = perHash === 0 ? end - first : Math.max(1, Math.floor((FILL * memoryBytes) / perHash));
  }
}

type HeldRecords = ReturnType<typeof createHeldRecords>;

const partsOf = ({ before, after }: Comparison) => ({ before: before?.parts ?? [], after: after.parts });

async function hold(
  { store, source, signal }: Comparison,
  side: RunSide,
  parts: readonly PartToRead['part'][],
  held: HeldRecords,
): Promise<void> {
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts, signal });
  try {
    for (let found = reader.next(); ; found = reader.next()) {
      if (found !== true && !(await found)) return;
      held.add(side, keyOf(reader), reader.line);
      reader.release();
    }
  } finally {
    await reader.close();
  }
}

function changesOf(
  { source, observe }: Comparison,
  { records }: HeldRecords,
  differing: ReturnType<typeof createDifferingFields>,
): readonly LineChange[] {
  const compare = compareRecordKeys(sourceDefinitions[source].records.key);
  const changes: LineChange[] = [];
  for (const [key, { before, after, repeated }] of records) {
    for (const side of repeated) observe?.({ kind: 'repeated-key', side, key });
    const change = before === after ? undefined : changeOf(key, asLine(before), asLine(after), differing);
    if (change !== undefined) changes.push(change);
  }
  return changes.sort((a, b) => compare(a.key, b.key));
}

const asLine = (bytes: Buffer | undefined) => (bytes === undefined ? undefined : lineOf(bytes));

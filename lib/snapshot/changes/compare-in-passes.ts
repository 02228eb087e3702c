import { sourceDefinitions } from '../sources/sources.ts';
import { type Change, changeBetween } from './change.ts';
import type { Comparison } from './comparison.ts';
import { createHeldRecords } from './held-records.ts';
import { HASH_SPACE } from './key-hash.ts';
import { compareRecordKeys } from './record-key.ts';
import { runRecords } from './run-records.ts';

/** The bytes of records that a pass may hold; the estimate of a record's size is an upper bound (`held-records.ts`). */
const MEMORY_BYTES = 128_000_000;
/** How full the next pass should be: hashes are spread evenly, but not perfectly. */
const FILL = 0.9;

/**
 * Compares two runs in any order: each pass reads both and holds the records whose key hash is in its range. A range
 * that turns out to be too wide for the memory bound is narrowed while it is read, and the next pass begins at its end.
 * Changes are ordered by pass, and within a pass by key.
 */
export async function* compareInPasses(comparison: Comparison): AsyncGenerator<Change> {
  const { memoryBytes = MEMORY_BYTES, observe } = comparison;
  if (!(memoryBytes > 0)) throw new RangeError(`memoryBytes: expected more than 0, got ${memoryBytes}`);
  let [from, width] = [0, HASH_SPACE];
  for (let pass = 1; from < HASH_SPACE; pass += 1) {
    const range = { from, to: Math.min(from + width, HASH_SPACE) };
    const held = createHeldRecords(range, memoryBytes, observe);
    await hold(comparison, 'before', held);
    await hold(comparison, 'after', held);
    yield* changesOf(comparison, held);
    observe?.({ kind: 'pass', pass, records: held.records.size });
    const perHash = held.bytes() / (held.to() - from);
    from = held.to();
    width = perHash === 0 ? HASH_SPACE : Math.max(1, Math.floor((FILL * memoryBytes) / perHash));
  }
}

type HeldRecords = ReturnType<typeof createHeldRecords>;

async function hold(comparison: Comparison, side: 'before' | 'after', held: HeldRecords): Promise<void> {
  const { store, source, signal } = comparison;
  for await (const records of runRecords({ store, source, run: comparison[side], signal })) {
    for (const record of records) held.add(side, record);
  }
}

function* changesOf({ source, observe }: Comparison, { records }: HeldRecords): Generator<Change> {
  const rules = sourceDefinitions[source].records;
  const compare = compareRecordKeys(rules.key);
  for (const [key, record] of [...records].sort(([a], [b]) => compare(a, b))) {
    for (const side of record.repeated) observe?.({ kind: 'repeated-key', side, key });
    const change = changeBetween(key, record, rules);
    if (change !== undefined) yield change;
  }
}

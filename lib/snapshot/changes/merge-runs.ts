import { sourceDefinitions } from '../sources/sources.ts';
import { type Change, changeBetween } from './change.ts';
import type { Comparison } from './comparison.ts';
import type { RunSide } from './comparison-events.ts';
import { compareRecordKeys } from './record-key.ts';
import { runRecords, type StoredRecord } from './run-records.ts';

/** A run is not in the order of its keys; the message names the key. */
export class KeyOrderError extends Error {
  override readonly name = 'KeyOrderError';
}

/**
 * Compares two runs that are in key order, in that order, and holds two records of each in memory. Throws
 * `KeyOrderError` as soon as a key is below the one before it: the changes yielded until then may be wrong.
 */
export async function* mergeRuns(comparison: Comparison): AsyncGenerator<Change> {
  const rules = sourceDefinitions[comparison.source].records;
  const compare = compareRecordKeys(rules.key);
  const [old, now] = [orderedRecords(comparison, 'before'), orderedRecords(comparison, 'after')];
  try {
    let [before, after] = await Promise.all([take(old), take(now)]);
    while (before !== undefined || after !== undefined) {
      const order = compareHeads(before, after, compare);
      const key = (order <= 0 ? before : after)?.key ?? '';
      const lines = {
        before: order <= 0 ? before?.line : undefined,
        after: order >= 0 ? after?.line : undefined,
      };
      const change = changeBetween(key, lines, rules);
      if (change !== undefined) yield change;
      [before, after] = await Promise.all([order <= 0 ? take(old) : before, order >= 0 ? take(now) : after]);
    }
  } finally {
    await Promise.all([old.return(undefined), now.return(undefined)]);
  }
}

type Records = AsyncGenerator<StoredRecord, undefined>;

/** The records of a run; only the last of those with the same key. */
async function* orderedRecords(comparison: Comparison, side: RunSide): Records {
  const { store, source, signal, observe } = comparison;
  const compare = compareRecordKeys(sourceDefinitions[source].records.key);
  let last: StoredRecord | undefined;
  for await (const records of runRecords({ store, source, run: comparison[side], signal })) {
    for (const record of records) {
      const order = last === undefined ? -1 : compare(last.key, record.key);
      if (order > 0) throw new KeyOrderError(`${record.key} follows ${last?.key} in the ${side} run`);
      if (order === 0) observe?.({ kind: 'repeated-key', side, key: record.key });
      else if (last !== undefined) yield last;
      last = record;
    }
  }
  if (last !== undefined) yield last;
  return undefined;
}

const take = async (records: Records): Promise<StoredRecord | undefined> => (await records.next()).value;

/** Which of the next records comes first: negative for `before`, positive for `after`, 0 for both. */
function compareHeads(
  before: StoredRecord | undefined,
  after: StoredRecord | undefined,
  compare: (a: string, b: string) => number,
): number {
  if (before === undefined) return 1;
  if (after === undefined) return -1;
  return compare(before.key, after.key);
}

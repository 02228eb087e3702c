import { sourceDefinitions } from '../sources/sources.ts';
import type { LineChange } from './change.ts';
import { createChangeGroup } from './change-group.ts';
import type { Comparison } from './comparison.ts';
import { isSameText } from './differing-values.ts';
import { createPairReader, noPair } from './line-pair.ts';
import { KeyOrderError, type KeyRange, openOrderedSide } from './ordered-side.ts';
import { compareRecordKeys } from './record-key.ts';

/** How many changes are yielded together at most. Few, since each may hold a piece of its run in memory. */
const TOGETHER = 32;

const NO_FIELDS: readonly string[] = [];

/**
 * Compares the records of two runs that are in key order, in that order: lines with the same bytes are the same record,
 * and only of others are the fields compared. If a key is repeated, its last line counts. Memory holds a piece of each
 * run. Throws `KeyOrderError` as soon as a key is below the one before it: the changes yielded until then may be wrong.
 */
export async function* mergeRuns(
  comparison: Comparison,
  range: KeyRange = {},
): AsyncGenerator<readonly LineChange[]> {
  const { records } = sourceDefinitions[comparison.source];
  const compare = compareRecordKeys(records.key);
  const [old, now] = [
    openOrderedSide(comparison, 'before', range),
    openOrderedSide(comparison, 'after', range),
  ];
  const readPair = createPairReader(records);
  const pair = noPair();
  let changes: LineChange[] = [];
  const group = createChangeGroup(records, (change) => changes.push(change), comparison.observe);
  try {
    let [hasOld, hasNow] = await Promise.all([old.next(), now.next()]);
    while (hasOld || hasNow) {
      let order = 0;
      if (hasOld && hasNow && isSameText(old.line, now.line))
        group.addBoth(now.keyFrom(old.quickKey()), old.line, now.line, NO_FIELDS);
      else if (hasOld && hasNow && readPair(old.line, now.line, pair))
        group.addBoth(now.keyFrom(old.keyFrom(pair.key)), old.line, now.line, pair.fields);
      else {
        order = !hasOld ? 1 : !hasNow ? -1 : compare(old.key(), now.key());
        if (order <= 0) group.add('before', old.key(), old.line);
        if (order >= 0) group.add('after', now.key(), now.line);
      }
      const nextOld = order <= 0 ? old.next() : hasOld;
      const nextNow = order >= 0 ? now.next() : hasNow;
      const isMidway = typeof nextOld === 'boolean' && typeof nextNow === 'boolean';
      [hasOld, hasNow] = isMidway ? [nextOld, nextNow] : await Promise.all([nextOld, nextNow]);
      if (isMidway && changes.length < TOGETHER) continue;
      yield changes;
      changes = [];
      if (isMidway) continue;
      group.own();
      old.release();
      now.release();
    }
    group.end();
    if (changes.length > 0) yield changes;
  } catch (error) {
    // The caller may have shown earlier ones: all are yielded, so that it does not depend on their number.
    if (error instanceof KeyOrderError && changes.length > 0) yield changes;
    throw error;
  } finally {
    await Promise.all([old.close(), now.close()]);
  }
}

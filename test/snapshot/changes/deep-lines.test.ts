import { describe, expect, test } from 'vitest';
import { collectChanges, storedChanges } from '../../../lib/snapshot/changes/change.ts';
import { compareRuns, publishChanges } from '../../../lib/snapshot/changes/changes-between.ts';
import { changesKey } from '../../../lib/snapshot/keys.ts';
import { ownPeakMb, resetOwnPeak } from '../../own-peak.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { tuesday } from './publish-lines.ts';
import { storeRun } from './stored-run.ts';

/** A value at the maximum nesting of a response. */
const deep = (core: string) => `${'['.repeat(511)}${core}${']'.repeat(511)}`;

async function compare(before: string, after: string) {
  const store = createMemoryStore();
  const [old, now] = [await storeRun(store, 'old', [before]), await storeRun(store, 'new', [after])];
  return collectChanges(compareRuns({ store, source: 'calculations', before: old, after: now }), 10);
}

describe('a field with too many values to parse', () => {
  const many = (values: string) => `[${'{"a":1},'.repeat(60_000)}${values}]`;

  test('is compared by its bytes, and the other fields by their values', async () => {
    const record = (field: string, rest: string) => `{"id":1,"many":${field},${rest}}`;

    const same = await compare(record(many('1'), '"n":1.0'), record(many('1'), '"n":1'));
    const other = await compare(record(many('1'), '"n":1'), record(many('1.0'), '"n":1'));
    const added = await compare(record(many('1'), '"n":1'), record(many('1'), '"m":2'));

    expect(same.counts.changed).toBe(0);
    expect(other.changes).toMatchObject([{ fields: ['many'] }]);
    expect(added.changes).toMatchObject([{ fields: ['m', 'n'] }]);
  });

  test('costs only its bytes in memory, where its values would take a gigabyte', async () => {
    const record = (last: string) => `{"id":1,"many":[${'1,'.repeat(2_000_000)}${last}]}`;
    resetOwnPeak();
    const beforeMb = ownPeakMb();

    const { changes } = await compare(record('1'), record('2'));

    expect(changes).toMatchObject([{ fields: ['many'] }]);
    expect(ownPeakMb() - beforeMb).toBeLessThan(200);
  });
});

test('changes of a record of the maximum depth can be read back', async () => {
  const store = createMemoryStore();
  const [was, is] = [`{"id":1,"deep":${deep('"]}"')}}`, `{"id":1,"deep":${deep('1')}}`];
  const [before, after] = [await storeRun(store, 'old', [was]), await storeRun(store, 'new', [is])];
  const key = changesKey('calculations', tuesday, 'old', '0');
  const compared = { store, source: 'calculations', before, after, key, scratch: 'work/scratch/' } as const;
  const counts = await publishChanges(compared);

  const read = await storedChanges({ store, changes: { against: 'old', ...counts, key } });

  expect(await Array.fromAsync(read ?? [])).toMatchObject([{ before: was, after: is, fields: ['deep'] }]);
});

import { describe, expect, test } from 'vitest';
import { datasetsUsed } from '../../../lib/model/rules/index.ts';
import { compareRuns } from '../../../lib/snapshot/changes/changes-between.ts';
import { collectChanges } from '../../../lib/snapshot/changes/count-changes.ts';
import { describeChanges } from '../../../lib/snapshot/changes/describe-changes.ts';
import { storedChanges } from '../../../lib/snapshot/changes/stored-changes.ts';
import { changesKey } from '../../../lib/snapshot/keys.ts';
import { publishChanges } from '../../../lib/snapshot/publish/publish-changes.ts';
import { linkedIds, linkedRun } from '../../../lib/snapshot/run/linked-ids.ts';
import type { Source } from '../../../lib/snapshot/sources/sources.ts';
import { ownPeakMb, resetOwnPeak } from '../../own-peak.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishLines, tuesday } from './publish-lines.ts';
import { storeRun } from './stored-run.ts';

/*
 * Earlier versions published records of any depth: what is nested deeper than JSON is read today blocks nothing.
 */

/** Nested far deeper than a stack has room for, once as arrays and once as objects, with brackets in texts. */
const deep = (levels: number, core = '"]}"') => `${'['.repeat(levels)}${core}${']'.repeat(levels)}`;
const deepObject = (levels: number) => `${'{"a\\"}":'.repeat(levels)}1${'}'.repeat(levels)}`;

const headOf: Record<Source, string> = {
  calculations: '"id":1',
  'data-files': '"dataFileId":1',
  files: '"_filesetId":"s","id":"1"',
  cards: '"_datasetId":"d","id":1',
};

async function compare(source: Source, before: string, after: string) {
  const store = createMemoryStore();
  const [old, now] = [await storeRun(store, 'old', [before]), await storeRun(store, 'new', [after])];
  return collectChanges(compareRuns({ store, source, before: old, after: now }), 10);
}

describe.each([513, 100_000])('a record nested %i deep', (levels) => {
  test.each(Object.entries(headOf))(
    'of %s is compared, its deep field by its bytes',
    async (source, head) => {
      const [was, is] = [
        `{${head},"name":"a","deep":${deep(levels)},"n":1.0}`,
        `{${head},"name":"b","deep":${deep(levels, '1')},"n":1}`,
      ];

      const { changes, counts } = await compare(source as Source, was, is);

      expect(counts).toEqual({ added: 0, removed: 0, changed: 1 });
      expect(changes).toMatchObject([
        { change: 'changed', fields: ['deep', 'name'], before: was, after: is },
      ]);
      const [first = '', ...fields] = describeChanges(source as Source, changes);
      expect(first).toMatch(/^changed /);
      expect(fields).toHaveLength(2);
      expect(fields.every((text) => text.length < 200)).toBe(true);
    },
  );

  test('is compared with one that is not, and with itself', async () => {
    const [was, is] = [`{"id":1,"deep":${deepObject(levels)}}`, '{"deep":1,"id":1}'];

    expect((await compare('calculations', was, is)).changes).toMatchObject([{ fields: ['deep'] }]);
    expect((await compare('calculations', is, was)).changes).toMatchObject([{ fields: ['deep'] }]);
    expect((await compare('calculations', was, ` ${was}`)).counts.changed).toBe(0);
  });

  test('has links that ids are taken from, as do the records beside it', async () => {
    const store = createMemoryStore();
    const links = (id: string) => `[{"resource":{"type":"DATA_SOURCE","id":"${id}"}}]`;
    const lines = [
      `{"id":1,"links":${links('a')},"deep":${deep(levels)}}`,
      `{"id":2,"links":${deep(levels)}}`,
      `{"id":3,"links":${links('c')}}`,
    ];
    await publishLines(store, { run: tuesday, lines });
    const from = { store, from: 'calculations', field: 'datasets' } as const;
    const { manifest } = await linkedRun({ ...from, platform: 'acme.example.com' });

    const rest = { fields: ['links'], idsIn: datasetsUsed, folder: 'work/ids/', isOver: () => false };
    expect(await linkedIds({ ...from, ...rest, manifest })).toEqual(['a', 'c']);
  });
});

describe('a field of more values than are parsed', () => {
  const many = (values: string) => `[${'{"a":1},'.repeat(60_000)}${values}]`;

  test.each(Object.entries(headOf))(
    'of %s is compared by its bytes, the others by their values',
    async (source, head) => {
      const record = (field: string, rest: string) => `{${head},"many":${field},${rest}}`;

      const same = await compare(source as Source, record(many('1'), '"n":1.0'), record(many('1'), '"n":1'));
      const other = await compare(source as Source, record(many('1'), '"n":1'), record(many('1.0'), '"n":1'));
      const added = await compare(source as Source, record(many('1'), '"n":1'), record(many('1'), '"m":2'));

      expect(same.counts.changed).toBe(0);
      expect(other.changes).toMatchObject([{ fields: ['many'] }]);
      expect(added.changes).toMatchObject([{ fields: ['m', 'n'] }]);
    },
  );

  test('costs no more than its text, where it would take a gigabyte as values', async () => {
    const record = (last: string) => `{"id":1,"many":[${'1,'.repeat(2_000_000)}${last}]}`;
    resetOwnPeak();
    const beforeMb = ownPeakMb();

    const { changes } = await compare('calculations', record('1'), record('2'));

    expect(changes).toMatchObject([{ fields: ['many'] }]);
    expect(ownPeakMb() - beforeMb).toBeLessThan(200);
  });
});

test('changes of a record that is as deep as may be are read back', async () => {
  const store = createMemoryStore();
  const [was, is] = [`{"id":1,"deep":${deep(511)}}`, `{"id":1,"deep":${deep(511, '1')}}`];
  const [before, after] = [await storeRun(store, 'old', [was]), await storeRun(store, 'new', [is])];
  const key = changesKey('calculations', tuesday, 'old');
  const pieces = 'work/pieces/';
  const compared = {
    store,
    source: 'calculations',
    before,
    after,
    key,
    pieces,
    isOver: () => false,
  } as const;
  const counts = { added: 0, removed: 0, changed: 0, ...(await publishChanges(compared)) };

  const read = await storedChanges({ store, changes: { against: 'old', ...counts, key } });

  expect(await Array.fromAsync(read ?? [])).toMatchObject([{ before: was, after: is, fields: ['deep'] }]);
});

import { describe, expect, test } from 'vitest';
import { collectChanges } from '../../../lib/snapshot/changes/change.ts';
import { compareRuns } from '../../../lib/snapshot/changes/changes-between.ts';
import type { Source } from '../../../lib/snapshot/sources/sources.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { storeRun } from './stored-run.ts';

const store = storeOfEach({ chunkBytes: 100 });

type Compared = {
  readonly source?: Source;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly partRecords?: number;
};

async function compare({ source = 'calculations', before, after, partRecords = 3 }: Compared) {
  const steps = compareRuns({
    store,
    source,
    before: await storeRun(store, 'old', before, { partRecords }),
    after: await storeRun(store, 'new', after, { partRecords }),
  });
  return collectChanges(steps, Number.POSITIVE_INFINITY);
}

const line = (id: bigint | number, name: string) => `{"id":${id},"name":"${name}"}`;

describe('comparing two runs', () => {
  test('yields changed records first, then added and removed ones, in the order of their keys', async () => {
    const { counts, changes } = await compare({
      before: [line(1, 'one'), line(2, 'two'), line(10, 'ten')],
      after: [line(2, 'TWO'), line(9, 'nine'), line(10, 'ten')],
    });

    expect(changes).toEqual([
      { change: 'changed', key: '2', before: line(2, 'two'), after: line(2, 'TWO'), fields: ['name'] },
      { change: 'removed', key: '1', before: line(1, 'one'), fields: [] },
      { change: 'added', key: '9', after: line(9, 'nine'), fields: [] },
    ]);
    expect(counts).toEqual({ added: 1, removed: 1, changed: 1 });
  });

  test('names the fields that differ in the order of the record', async () => {
    const { changes } = await compare({
      before: ['{"id":1,"owner":1,"name":"a"}'],
      after: ['{"id":1,"owner":2,"name":"b"}'],
    });

    expect(changes).toMatchObject([{ fields: ['name', 'owner'] }]);
  });

  test.each([
    ['white space and the order of members', '{"id":1,"a":{"x":1,"y":2}}', '{ "a": {"y":2,"x":1}, "id":1}'],
    ['an exponent and its digits', '{"id":1,"a":1e20}', '{"id":1,"a":100000000000000000000}'],
    ['the order of functions', '{"id":1,"functions":["SUM","AVG"]}', '{"id":1,"functions":["AVG","SUM"]}'],
    ['a duplicate in functions', '{"id":1,"functions":["SUM"]}', '{"id":1,"functions":["SUM","SUM"]}'],
  ])('ignores %s', async (_what, before, after) => {
    const { changes } = await compare({ before: [before], after: [after] });

    expect(changes).toEqual([]);
  });

  test.each([
    ['a digit beyond 2^53', '{"id":1,"a":9007199254740993}', '{"id":1,"a":9007199254740992}', ['a']],
    [
      'a field named like a property of the prototype',
      '{"id":1,"__proto__":1}',
      '{"id":1,"__proto__":2}',
      ['__proto__'],
    ],
  ])('reports %s as a change', async (_what, before, after, fields) => {
    const { changes } = await compare({ before: [before], after: [after] });

    expect(changes).toEqual([{ change: 'changed', key: '1', before, after, fields }]);
  });

  test('ignores a new signature of a file’s download URL, although it is part of the record', async () => {
    const before = '{"_filesetId":"s","id":"f","name":"a","downloadUrl":"https://x/1"}';
    const signed = '{"_filesetId":"s","id":"f","name":"a","downloadUrl":"https://x/2"}';
    const renamed = '{"_filesetId":"s","id":"f","name":"b","downloadUrl":"https://x/2"}';

    const same = await compare({ source: 'files', before: [before], after: [signed] });
    const changed = await compare({ source: 'files', before: [before], after: [renamed] });

    expect(same.changes).toEqual([]);
    expect(changed.changes).toEqual([
      { change: 'changed', key: 's/f', before, after: renamed, fields: ['name'] },
    ]);
  });
});

describe('keys', () => {
  test('distinguish ids beyond 2^53 that a double cannot, and are in numeric order', async () => {
    const [low, high, higher] = [9007199254740992n, 9007199254740993n, 10n ** 40n];

    const { changes } = await compare({
      before: [line(low, 'a'), line(higher, 'c')],
      after: [line(low, 'a'), line(high, 'b'), line(higher, 'd')],
    });

    expect(changes.map(({ change, key }) => `${change} ${key}`)).toEqual([
      `changed ${higher}`,
      `added ${high}`,
    ]);
  });

  test('of cards are ordered by dataset and then by number, and _datasetId takes precedence over datasourceId', async () => {
    const after = [
      '{"_datasetId":"a","id":9,"datasourceId":"z"}',
      '{"_datasetId":"a","id":10}',
      '{"id":1,"datasourceId":"b"}',
    ];

    const { changes } = await compare({ source: 'cards', before: [], after });

    expect(changes.map(({ key }) => key)).toEqual(['a/9', 'a/10', 'b/1']);
  });

  test('of data files are the dataFileId', async () => {
    const { changes } = await compare({ source: 'data-files', before: ['{"dataFileId":7}'], after: [] });

    expect(changes).toEqual([{ change: 'removed', key: '7', before: '{"dataFileId":7}', fields: [] }]);
  });
});

test('two empty runs have no changes', async () => {
  const { counts } = await compare({ before: [], after: [] });

  expect(counts).toEqual({ added: 0, removed: 0, changed: 0 });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scaled } from '../../scale.ts';
import { collect, given, storeOf } from './collect.ts';

const anyFile = fc.record(
  {
    _filesetId: fc.constantFrom('f', 'g', null),
    path: fc.constantFrom('/a', '/b', null, 7),
    fileType: fc.constantFrom('FILE', 'DIRECTORY', null),
    indexStatus: fc.constantFrom('INDEXED', 'FAILED', {}),
    size: fc.oneof(fc.nat(), fc.constantFrom(null, '12', -1)),
    created: fc.constantFrom('2026-11-01T00:00:00Z', 1, 'x'),
  },
  { requiredKeys: [] },
);

/** How often each text occurs. */
function naiveCounts(texts: readonly string[]) {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return byText([...counts]);
}

const byText = (counts: readonly (readonly [string, number])[]) =>
  counts.toSorted(([a], [b]) => (a < b ? -1 : 1));

const textOf = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : 'unknown');
const sizeOf = (value: unknown) => (typeof value === 'number' && value >= 0 ? value : undefined);

test('files are counted correctly, and a shortened list has the largest files', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyFile, { maxLength: 30 }), async (records) => {
      const store = await storeOf({ files: records });

      const [whole, cut] = [await collect(store), await collect(store, { whole: 5, top: 3 })];

      const { list, ...counts } = given(whole.files);
      const { list: top, ...same } = given(cut.files);
      const sizes = records.map(({ size }) => sizeOf(size));
      expect(same).toEqual(counts);
      expect(counts.total).toBe(records.length);
      expect(counts.bytes).toBe(sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0));
      expect(byText(counts.fileType.values)).toEqual(
        naiveCounts(records.map(({ fileType }) => textOf(fileType))),
      );
      expect(byText(counts.indexStatus.values)).toEqual(
        naiveCounts(records.map(({ indexStatus }) => textOf(indexStatus))),
      );
      expect(list.columns.size).toEqual(sizes.map((size) => size ?? null));
      const descending = sizes.map((size) => size ?? -1).toSorted((a, b) => b - a);
      const shown = top.columns.size.map((size) => size ?? -1).toSorted((a, b) => b - a);
      expect(shown).toEqual(descending.slice(0, records.length <= 5 ? 5 : 3));
    }),
    { numRuns: scaled(20, 200) },
  );
});

test('if a column has very many values, the fifty most frequent are listed, even if they first occur late', async () => {
  const rare = Array.from({ length: 1_200 }, (_, at) => ({ fileType: `rare ${at}` }));
  const often = Array.from({ length: 60 }, () => [
    { fileType: 'often' },
    { fileType: 'more' },
    { fileType: 'more' },
  ]);
  const store = await storeOf({ files: [...rare, ...often.flat()] });

  const { files } = await collect(store);

  expect(files?.fileType.values.slice(0, 3)).toEqual([
    ['more', 120],
    ['often', 60],
    ['rare 0', 1],
  ]);
  expect(files?.fileType.values).toHaveLength(50);
  expect(files?.fileType.others).toBe(1_200 - 48);
});

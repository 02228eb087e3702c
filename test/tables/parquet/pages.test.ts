import fc from 'fast-check';
import { ByteWriter } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import {
  readNumbers,
  readPageHeader,
  writeNumbers,
  writePageHeader,
} from '../../../lib/tables/parquet/pages.ts';

const HEADER = {
  kind: 'data',
  sizeBytes: 70_000,
  packedBytes: 300,
  values: 20_000,
  nulls: 5,
  rows: 19_000,
  encoding: 'RLE_DICTIONARY',
  definitionBytes: 12,
  repetitionBytes: 200,
} as const;

test('encoded numbers are read as they were written, in runs and in packed groups', () => {
  const runs = (max: number) =>
    fc.array(fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 1, max: 30 })), { maxLength: 40 });
  const written = fc
    .integer({ min: 0, max: 24 })
    .chain((bits) => fc.record({ bits: fc.constant(bits), runs: runs(2 ** bits - 1) }));

  fc.assert(
    fc.property(written, ({ bits, runs }) => {
      const numbers = Uint32Array.from(runs.flatMap(([number, count]) => Array<number>(count).fill(number)));
      const out = new ByteWriter();
      const size = writeNumbers(out, numbers, bits);
      const found = new Uint32Array(numbers.length);
      readNumbers(out.getBytes(), 0, bits, found);

      expect(found).toEqual(numbers);
      expect(size).toBe(out.getBytes().length);
    }),
  );
});

test('eight equal numbers are a run, and fewer are packed', () => {
  const out = new ByteWriter();
  writeNumbers(out, [1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 2, 3, 4, 5, 6, 7], 3);

  expect([...out.getBytes()]).toEqual([0x10, 1, 0x03, 0x88, 0xc6, 0xfa]);
});

test('too few bytes for the numbers are an error, not an endless series of zeros', () => {
  expect(() => readNumbers(new Uint8Array([0x10, 1]), 0, 1, new Uint8Array(9))).toThrow(RangeError);
});

test('the header of a page of data is read as it was written', () => {
  const out = new ByteWriter();
  writePageHeader(out, HEADER);
  const { kind, encoding, rows, ...read } = HEADER;

  expect(readPageHeader(out.getBytes(), 0)).toEqual({ ...read, end: out.getBytes().length });
});

test('the header of a dictionary page has no levels', () => {
  const out = new ByteWriter();
  writePageHeader(out, { ...HEADER, kind: 'dictionary', encoding: 'PLAIN' });

  expect(readPageHeader(out.getBytes(), 0)).toMatchObject({
    values: 20_000,
    nulls: 0,
    definitionBytes: 0,
    repetitionBytes: 0,
  });
});

test('a page of an unsupported type is refused', () => {
  expect(() => readPageHeader(new Uint8Array([0x15, 0, 0]), 0)).toThrow(
    'expected a dictionary or a page of data, got 0',
  );
});

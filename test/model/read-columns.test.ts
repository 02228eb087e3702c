import { zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { StoredObjectError } from '../../lib/store/index.ts';
import { asText, rowGroupsOf } from '../../lib/tables/parquet/read-columns.ts';
import { writeLines } from '../tables/parquet/parquet-rows.ts';

const table = {
  text: 'string',
  number: 'bigint',
  is: 'boolean',
  part: 'struct<name:string,size:bigint>',
  people: 'array<struct<id:string,name:string>>',
  number_at: 'timestamp',
  _other: 'string',
} as const;

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const text = fc.oneof(fc.constantFrom('a', 'b'), fc.string({ unit: 'grapheme' }));
const record = fc.record({
  text: some(text),
  number: some(fc.integer()),
  is: some(fc.boolean()),
  part: some(fc.record({ name: some(text), size: some(fc.nat()) })),
  people: some(fc.array(fc.option(fc.record({ id: some(text), name: some(text) })), { maxLength: 3 })),
});

async function rowsOf(bytes: Buffer) {
  const rows: unknown[] = [];
  for await (const group of rowGroupsOf('a file', Buffer.from(bytes))) {
    const cells = [group.texts('text', asText), ...['number', 'is', 'number_at'].map(group.values)];
    const parts = ['part.name', 'part.size'].map(group.values);
    const people = ['id', 'name'].map((name) => group.lists(`people.list.element.${name}`));
    for (let row = 0; row < group.rows; row += 1)
      rows.push([...cells, ...parts, ...people].map((cellAt) => cellAt(row)));
  }
  return rows;
}

test('columns are read as the library hyparquet reads them, even if rows and lists lack values', async () => {
  const check = async (records: readonly object[], times: number) => {
    const lines = Array.from({ length: times }, () => records.map((each) => JSON.stringify(each))).flat();
    const { bytes } = writeLines(lines, table);

    const compressors = { ZSTD: (page: Uint8Array) => zstdDecompressSync(page) };
    const expected = await parquetReadObjects({ file: new Uint8Array(bytes).buffer, compressors });
    expect(await rowsOf(bytes)).toEqual(
      expected.map(({ text, number, is, number_at, part, people }) => [
        ...[text, number, is, number_at?.getTime() ?? null, part?.name ?? null, part?.size ?? null],
        ...['id', 'name'].map((name) => people?.map((each: never) => each?.[name] ?? null) ?? []),
      ]),
    );
  };
  await fc.assert(fc.asyncProperty(fc.array(record, { maxLength: 20 }), fc.constantFrom(1, 40), check));
});

test('a truncated file counts as damaged', async () => {
  const { bytes } = writeLines(['{"text":"a"}'], table);

  await expect(rowsOf(bytes.subarray(0, -20))).rejects.toThrow(StoredObjectError);
});

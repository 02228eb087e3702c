import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createParquetFile } from '../../../lib/tables/parquet/parquet-writer.ts';
import { scaled, scaledTimeout } from '../../scale.ts';
import { jsonOf } from '../../snapshot/page/json-of.ts';
import { oddLine, oddTable } from './odd-lines.ts';
import { asRead, fittedRows, queryParquet, writeLines } from './parquet-rows.ts';
import { fitSlowly } from './slow-fit.ts';

describe('a Parquet file', () => {
  test(
    'read by DuckDB has every value that fits, whatever is in the lines',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(oddLine, { minLength: 1, maxLength: 150 }), async (lines) => {
          const { rows: read, other } = await fittedRows(lines);

          const rows = read.map(asRead);
          const expected = lines.map((line) => fitSlowly(line, oddTable));
          const expectedRows = expected.map(({ row }) => asRead(row));
          // `expect` takes ten times as long, so it is only called to describe a difference.
          if (!isDeepStrictEqual(rows, expectedRows)) expect(rows).toEqual(expectedRows);
          expect(other).toBe(expected.reduce((sum, { others }) => sum + others, 0));
        }),
        { numRuns: scaled(25, 500) },
      );
    },
    scaledTimeout(600_000),
  );

  test('of many lines has several row groups, which together have the same rows', async () => {
    const lines = Array.from({ length: 45_000 }, (_, id) => JSON.stringify({ id, tags: ['a', `${id % 7}`] }));

    const { bytes, pieces } = writeLines(lines);

    expect(pieces).toBe(3);
    expect(
      await queryParquet(
        bytes,
        'SELECT count(*)::int AS n, sum(id::int)::int AS ids, sum(len(tags))::int AS tags FROM parquet',
      ),
    ).toEqual([{ n: 45_000, ids: (45_000 * 44_999) / 2, tags: 90_000 }]);
  });

  test('ends a row group by its bytes, too', () => {
    const line = JSON.stringify({ id: 'x'.repeat(6_000_000) });

    expect(writeLines([line, line, line, line]).pieces).toBe(2);
  });

  test('may have a line of 33 MB', async () => {
    const text = `${'ä'.repeat(16_500_000)}!`;

    const { bytes } = writeLines(['{"id":"a"}', JSON.stringify({ id: text, count: 7 }), '{"id":"b"}']);

    expect(
      await queryParquet(bytes, 'SELECT length(id)::int AS n, right(id, 1) AS last, count FROM parquet'),
    ).toEqual([
      { n: 1, last: 'a', count: null },
      { n: 16_500_001, last: '!', count: '7' },
      { n: 1, last: 'b', count: null },
    ]);
  });

  test('without lines has its columns', async () => {
    const { bytes } = writeLines([]);

    expect(await queryParquet(bytes)).toEqual([]);
    expect(
      (await queryParquet(bytes, 'DESCRIBE SELECT * FROM parquet')).map(
        ({ column_name: name, column_type: type }) => `${name} ${type}`,
      ),
    ).toEqual([
      'id VARCHAR',
      'count BIGINT',
      'isset BOOLEAN',
      'tags VARCHAR[]',
      'owners STRUCT(id VARCHAR, since BIGINT)[]',
      'links MAP(VARCHAR, VARCHAR[])',
      'sizes MAP(VARCHAR, BIGINT)',
      'grid BIGINT[][]',
      'place STRUCT(kind VARCHAR, "within" STRUCT(ismain BOOLEAN, "name" VARCHAR))',
      'count_at TIMESTAMP',
      '_other VARCHAR',
    ]);
  });

  test('of the same lines has the same bytes', () => {
    const lines = ['{"id":1,"more":true}', '{"id":2,"tags":[]}'];

    expect(writeLines(lines).bytes).toEqual(writeLines(lines).bytes);
  });

  test.each([
    ['none', 1],
    ['hardly any', 1.2],
    ['some', 2.2],
    ['many', 52],
  ])('has each of thousands of strings in its row where %s are the same', async (_what, same) => {
    // More strings than the writer compares one by one.
    const ids = Array.from({ length: 6_000 }, (_, row) => `${(row * 7_919) % Math.ceil(6_000 / same)} ä`);
    const [first] = ids.toSorted();

    const { bytes } = writeLines(ids.map((id) => JSON.stringify({ id, tags: [id, `"${id}`, `${id}x`] })));

    const rows = await queryParquet(
      bytes,
      "SELECT id || ', ' || array_to_string(tags, ', ') AS row FROM parquet",
    );
    expect(rows.map(({ row }) => row)).toEqual(ids.map((id) => `${id}, ${id}, "${id}, ${id}x`));
    expect(
      await queryParquet(
        bytes,
        'SELECT count(*)::int AS n FROM parquet WHERE id = (SELECT min(id) FROM parquet)',
      ),
    ).toEqual([{ n: ids.filter((id) => id === first).length }]);
  });

  test('that is written by a reused writer has the bytes of a new one', () => {
    const lines = ['{"id":1,"more":true}', '{"id":2,"tags":["a","a"],"count":3,"isSet":true}'];
    const file = createParquetFile(oddTable);
    const write = () => {
      for (const line of lines) {
        file.add(jsonOf(line), 0, line.length);
        file.endRow(line.length);
      }
    };
    write();

    file.end();
    write();

    const { body, ...counts } = file.end();
    expect(body).toEqual(writeLines(lines).bytes);
    expect(counts).toEqual({ records: 2, other: 1 });
  });
});

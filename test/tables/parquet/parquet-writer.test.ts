import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TableColumns } from '../../../lib/tables/parquet/fit-lines.ts';
import { createParquetFile } from '../../../lib/tables/parquet/parquet-writer.ts';
import { scaled, scaledTimeout } from '../../scale.ts';
import { jsonOf } from '../../snapshot/page/json-of.ts';
import { oddLine, oddTable } from './odd-lines.ts';
import { queryParquet } from './parquet-rows.ts';
import { fitSlowly } from './slow-fit.ts';

/** A Parquet file of these lines, with a row group each time that it is full. */
function written(lines: readonly string[], table: TableColumns = oddTable) {
  const file = createParquetFile(table);
  const pieces: Uint8Array[] = [];
  for (const line of lines) {
    file.add(jsonOf(line), 0, Buffer.byteLength(line));
    if (file.isFull()) pieces.push(file.flush());
  }
  pieces.push(file.end());
  return { bytes: Buffer.concat(pieces), pieces: pieces.length, ...file.counts() };
}

/** A fitted value as DuckDB gives it as JSON. */
function asRead(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(asRead);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asRead(part)]));
}

const SELECT = 'SELECT * REPLACE (epoch_ms(count_at)::text AS count_at) FROM parquet';

describe('a Parquet file', () => {
  test(
    'read by DuckDB has every value that fits, whatever is in the lines',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(oddLine, { minLength: 1, maxLength: 60 }), async (lines) => {
          const { bytes, records, other } = written(lines);

          const rows = await queryParquet(bytes, SELECT);

          const expected = lines.map((line) => fitSlowly(line, oddTable));
          expect(rows).toEqual(expected.map(({ row }) => asRead(row)));
          expect(records).toBe(lines.length);
          expect(other).toBe(expected.reduce((sum, { others }) => sum + others, 0));
        }),
        { numRuns: scaled(15, 300) },
      );
    },
    scaledTimeout(600_000),
  );

  test('of many lines has several row groups, which are the same rows together', async () => {
    const lines = Array.from({ length: 45_000 }, (_, id) => JSON.stringify({ id, tags: ['a', `${id % 7}`] }));

    const { bytes, pieces } = written(lines);

    expect(pieces).toBe(3);
    expect(
      await queryParquet(
        bytes,
        'SELECT count(*)::int AS n, sum(id::int)::int AS ids, sum(len(tags))::int AS tags FROM parquet',
      ),
    ).toEqual([{ n: 45_000, ids: (45_000 * 44_999) / 2, tags: 90_000 }]);
  });

  test('ends a row group by its bytes, too', () => {
    const line = JSON.stringify({ id: 'x'.repeat(3_000_000) });

    expect(written([line, line, line, line]).pieces).toBe(2);
  });

  test('has a line of 33 MB as it is', async () => {
    const text = `${'ä'.repeat(16_500_000)}!`;

    const { bytes } = written(['{"id":"a"}', JSON.stringify({ id: text, count: 7 }), '{"id":"b"}']);

    expect(
      await queryParquet(bytes, 'SELECT length(id)::int AS n, right(id, 1) AS last, count FROM parquet'),
    ).toEqual([
      { n: 1, last: 'a', count: null },
      { n: 16_500_001, last: '!', count: '7' },
      { n: 1, last: 'b', count: null },
    ]);
  });

  test('without lines has its columns', async () => {
    const { bytes } = written([]);

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

    expect(written(lines).bytes).toEqual(written(lines).bytes);
  });
});

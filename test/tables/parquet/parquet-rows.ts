import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetMetadata } from 'hyparquet';
import { once } from '../../../lib/base/async.ts';
import type { TableColumns } from '../../../lib/tables/parquet/hive-type.ts';
import { createParquetFile } from '../../../lib/tables/parquet/parquet-writer.ts';
import { jsonOf } from '../../snapshot/page/json-of.ts';
import { oddTable } from './odd-lines.ts';

/** One instance for all queries, since creating it takes longer than most of them. */
const duckdb = once(() => DuckDBInstance.create(':memory:'));

/** Writes a Parquet file of these lines, each between two other lines, with a new row group whenever one is full. */
export function writeLines(lines: readonly string[], table: TableColumns = oddTable) {
  const file = createParquetFile(table);
  const before = '{"id":"before"}\n';
  for (const line of lines) {
    file.add(
      jsonOf(`${before}${line}\n{"id":"after"}\n`),
      before.length,
      before.length + Buffer.byteLength(line),
    );
    file.endRow(Buffer.byteLength(line));
  }
  const { body, ...counts } = file.end();
  const metadata = parquetMetadata(new Uint8Array(body).buffer);
  return { bytes: body, pieces: metadata.row_groups.length, ...counts };
}

/** The rows of these lines in `oddTable` as DuckDB reads them, and the number of members in `_other`. */
export async function fittedRows(lines: readonly string[]) {
  const { bytes, other } = writeLines(lines);
  const rows = await queryParquet(
    bytes,
    'SELECT * REPLACE (epoch_ms(count_at)::text AS count_at) FROM parquet',
  );
  return { rows, other };
}

/** A fitted value as DuckDB returns it in JSON, with the keys of maps sorted. */
export function asRead(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) {
    const keyOf = (part: unknown) => String((part as { readonly key?: string } | null)?.key);
    return value.map(asRead).sort((a, b) => keyOf(a).localeCompare(keyOf(b)));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, asRead(part)]));
}

/** Runs SQL with DuckDB over one Parquet file (the table `parquet`). Returns rows as JSON, long integers as text. */
export async function queryParquet(
  bytes: Uint8Array,
  sql = 'SELECT * FROM parquet',
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'parquet-'));
  const connection = await (await duckdb()).connect();
  try {
    const path = join(folder.path, 'rows.parquet');
    writeFileSync(path, bytes);
    const named = sql.replaceAll(/\bparquet\b/g, `read_parquet('${path}')`);
    return (await connection.runAndReadAll(named)).getRowObjectsJson() as readonly Record<string, unknown>[];
  } finally {
    connection.closeSync();
  }
}

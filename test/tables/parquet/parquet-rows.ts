import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

/** Runs SQL over one Parquet file, which it names `parquet`, with DuckDB: rows as JSON, long integers as text. */
export async function queryParquet(
  bytes: Uint8Array,
  sql = 'SELECT * FROM parquet',
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parquet-'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const path = join(folder, 'rows.parquet');
    writeFileSync(path, bytes);
    const named = sql.replaceAll(/\bparquet\b/g, `read_parquet('${path}')`);
    return (await connection.runAndReadAll(named)).getRowObjectsJson() as readonly Record<string, unknown>[];
  } finally {
    connection.closeSync();
    instance.closeSync();
    rmSync(folder, { recursive: true });
  }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { once } from '../../../lib/base/async.ts';
import type { Store } from '../../../lib/store/store.ts';

/** One instance for all queries, since creating it takes longer than most of them. */
const duckdb = once(() => DuckDBInstance.create(':memory:'));

type Row = Readonly<Record<string, unknown>>;

/** Runs SQL with DuckDB over all Parquet files in a folder (table `parquet`). Returns rows as JSON, long integers as text. */
export async function queryFolder(
  store: Store,
  folder: string,
  sql = 'SELECT * FROM parquet',
): Promise<readonly Row[]> {
  const copies = mkdtempSync(join(tmpdir(), 'folder-'));
  const connection = await (await duckdb()).connect();
  try {
    let files = 0;
    for await (const { key } of store.list(folder)) {
      const name = key.slice(key.lastIndexOf('/') + 1);
      const stored = name.startsWith('_') ? undefined : await store.get(key);
      if (stored === undefined) continue;
      writeFileSync(join(copies, `${String(files).padStart(5, '0')}.parquet`), stored.body);
      files += 1;
    }
    if (files === 0) return [];
    const named = sql.replaceAll(/\bparquet\b/g, `read_parquet('${copies}/*.parquet')`);
    return (await connection.runAndReadAll(named)).getRowObjectsJson() as readonly Row[];
  } finally {
    connection.closeSync();
    rmSync(copies, { recursive: true });
  }
}

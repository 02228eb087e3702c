import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseExact, printExact } from '../../../lib/base/json/json.ts';
import { type StoredTableName, storedTables } from '../../../lib/tables/catalog/tables.ts';
import { duckDbType } from './duckdb-type.ts';

/** A table over objects of JSON lines. They are parsed here, since DuckDB rejects unpaired surrogates. */
export async function storedView(name: StoredTableName, store: string): Promise<string> {
  const { folder, columns, partitions } = storedTables[name];
  const root = join(store, folder);
  const objects = globSync(join(root, '**/*.{json,gz}')).filter((file) => !/\/[_.][^/]*$/.test(file));
  const rows: string[] = [];
  for (const object of objects) {
    const body = await readFile(object);
    const text = (object.endsWith('.gz') ? gunzipSync(body) : body).toString();
    const folders = relative(root, object).split('/');
    const keys = partitions.map(({ name: key, prefix }, at) => [key, folders[at]?.slice(prefix.length)]);
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const record = parseExact(line) as Readonly<Record<string, unknown>>;
      const values = Object.entries(columns).map(([column, type]) => [column, read(record[column], type)]);
      rows.push(printExact(Object.fromEntries([...values, ...keys])));
    }
  }
  const file = join(store, `${name}.read`);
  await writeFile(file, rows.map((row) => `${row}\n`).join(''));
  const types = [
    ...Object.entries(columns).map(([column, type]) => [column, duckDbType(type)]),
    ...partitions.map((partition) => [partition.name, 'VARCHAR']),
  ];
  const struct = types.map(([column, type]) => `"${column}": '${type}'`).join(', ');
  return `CREATE OR REPLACE VIEW stored_${name} AS SELECT * FROM
    read_json('${file}', format = 'newline_delimited', columns = {${struct}})`;
}

function read(value: unknown, type: string): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value.replaceAll(/\p{Surrogate}/gu, '?');
  if (type === 'string' || type === 'json') return printExact(value).replaceAll(/\\ud[89a-f]../gi, '?');
  return Array.isArray(value) ? value.map((part) => read(part, 'string')) : value;
}

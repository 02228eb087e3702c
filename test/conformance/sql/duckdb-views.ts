import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Place, splitPlace } from '../../../lib/snapshot/keys.ts';
import type { Columns } from '../../../lib/snapshot/sources/source-definition.ts';
import { sourceDefinitions } from '../../../lib/snapshot/sources/sources.ts';
import { glueTableOf } from '../../../lib/tables/catalog/table-names.ts';
import { fitSlowly } from '../../tables/parquet/slow-fit.ts';
import { duckDbType } from './duckdb-type.ts';
import type { RunOf } from './fill-store.ts';

/** The runs that a view includes. */
export type Which = 'latest' | 'all';

/** A view over the Parquet files that publishing wrote. */
export const parquetView = (place: Place, which: Which, runs: readonly RunOf[], folder: string): string =>
  viewOf(
    place,
    which,
    runs.map(({ parquet, dt, run }) => {
      const files = parquet.map((key) => quoted(join(folder, key)));
      return `SELECT *, ${quoted(dt)} AS dt, ${quoted(run)} AS run FROM read_parquet([${files}])`;
    }),
  );

/** A view over the published JSON lines, converted to columns by simple and slow code. */
export async function fittedView(
  place: Place,
  which: Which,
  runs: readonly RunOf[],
  folder: string,
): Promise<string> {
  const { columns } = sourceDefinitions[splitPlace(place).source];
  const selects = runs.map(async ({ lines, dt, run }) => {
    const file = join(folder, `${place}-${run}.fitted`);
    await writeFile(file, lines.map((line) => `${fittedLine(line, columns)}\n`).join(''));
    const types = Object.entries(columns).map(
      ([name, type]) =>
        [name.toLowerCase(), type === 'timestamp' ? 'BIGINT' : duckDbType(type.toLowerCase())] as const,
    );
    const values = Object.entries(columns).map(([name, type]) =>
      type === 'timestamp'
        ? `epoch_ms("${name.toLowerCase()}") AS "${name.toLowerCase()}"`
        : `"${name.toLowerCase()}"`,
    );
    const struct = types.map(([name, type]) => `"${name}": ${quoted(type)}`).join(', ');
    return `SELECT ${values.join(', ')}, ${quoted(dt)} AS dt, ${quoted(run)} AS run
      FROM read_json(${quoted(file)}, format = 'newline_delimited', columns = {${struct}})`;
  });
  return viewOf(place, which, await Promise.all(selects));
}

function viewOf(place: Place, which: Which, selects: readonly string[]): string {
  const name =
    which === 'latest' ? glueTableOf(place).replace('stored_', 'stored_latest_') : glueTableOf(place);
  return `CREATE OR REPLACE VIEW ${name} AS ${selects.join(' UNION ALL ')}`;
}

/** Converts a line to JSON with the columns of its table. */
function fittedLine(line: string, columns: Columns): string {
  const { row } = fitSlowly(line, columns);
  const members = Object.entries(columns).map(([name, type]) => {
    const value = row[name.toLowerCase()];
    return `${JSON.stringify(name.toLowerCase())}:${print(value, type.startsWith('map<'))}`;
  });
  return `{${members.join(',')}}`;
}

function print(value: unknown, isMap = false): string {
  if (typeof value === 'bigint') return `${value}`;
  if (isMap && Array.isArray(value))
    return `{${value.map((entry) => `${JSON.stringify(entry.key)}:${print(entry.value)}`).join(',')}}`;
  if (Array.isArray(value)) return `[${value.map((part) => print(part)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  return `{${Object.entries(value)
    .map(([name, part]) => `${JSON.stringify(name)}:${print(part)}`)
    .join(',')}}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

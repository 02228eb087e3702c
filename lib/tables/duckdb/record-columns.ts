import type { Columns } from '../../snapshot/sources/source-definition.ts';
import { duckDbType } from './duckdb-type.ts';
import type { Column } from './table.ts';

/** The columns of a table in DuckDB, with names in lower case as in Glue and Parquet. */
export const duckDbColumns = (columns: Columns): readonly Column[] =>
  Object.entries(columns).map(([name, type]) => ({ name: name.toLowerCase(), type: duckDbType(type) }));

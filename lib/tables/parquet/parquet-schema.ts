import { hash } from 'node:crypto';
import type { SchemaElement } from 'hyparquet-writer';
import type { TableColumns } from './fit-lines.ts';
import type { ColumnType } from './hive-type.ts';
import { parseColumnType } from './hive-type.ts';

/**
 * The schema of a table in Parquet: names in lower case, everything may be null but the keys of a map. Lists and maps
 * are groups of three levels, as the format defines them. Timestamps are milliseconds in UTC; they have the older notation
 * alone, since DuckDB would make moments in the session's time zone of the newer one.
 */
export function parquetSchema(columns: TableColumns): SchemaElement[] {
  const elements = Object.entries(columns).map(([name, type]) => elementsOf(name, parseColumnType(type)));
  return [{ name: 'row', num_children: elements.length }, ...elements.flat()];
}

function elementsOf(name: string, type: ColumnType): readonly SchemaElement[] {
  const optional = { name: name.toLowerCase(), repetition_type: 'OPTIONAL' } as const;
  switch (type.kind) {
    case 'string':
    case 'json':
      return [{ ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' }];
    case 'bigint':
      return [{ ...optional, type: 'INT64' }];
    case 'timestamp':
      return [{ ...optional, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }];
    case 'boolean':
      return [{ ...optional, type: 'BOOLEAN' }];
    case 'array':
      return [
        { ...optional, converted_type: 'LIST', num_children: 1 },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        ...elementsOf('element', type.element),
      ];
    case 'map':
      return [
        { ...optional, converted_type: 'MAP', num_children: 1 },
        { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
        { name: 'key', repetition_type: 'REQUIRED', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
        ...elementsOf('value', type.value),
      ];
    case 'struct':
      return [
        { ...optional, num_children: type.fields.length },
        ...type.fields.flatMap((field) => elementsOf(field.name, field.type)),
      ];
    default:
      return type satisfies never;
  }
}

/** Goes up when the same lines and columns give other rows. */
const VERSION = 2;

/** Names what the Parquet of a part depends on besides the part: 12 characters, other ones for other columns. */
export const parquetFormat = (columns: TableColumns): string =>
  hash('sha256', JSON.stringify([VERSION, Object.entries(columns)])).slice(0, 12);

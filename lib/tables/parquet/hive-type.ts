import { hash } from 'node:crypto';
import type { SchemaElement } from 'hyparquet-writer';

/** The columns of a table, in order: their names as the platform spells them, and their types in Hive's notation. */
export type TableColumns = Readonly<Record<string, string>>;

/**
 * A Hive type, or `json`: a column of strings, in which any other value is its JSON with the same bytes. Names are
 * spelled as on the platform.
 */
type ColumnType =
  | { readonly kind: (typeof PLAIN)[number] }
  | { readonly kind: 'array'; readonly element: ColumnType }
  | { readonly kind: 'map'; readonly value: ColumnType }
  | { readonly kind: 'struct'; readonly fields: readonly StructField[] };

type StructField = { readonly name: string; readonly type: ColumnType };

/** Parses a type in Hive's notation. Keys of maps are strings. Throws `TypeError` for a type that no column has. */
export function parseColumnType(hive: string): ColumnType {
  const [, kind, inner = ''] = /^(array|map|struct)<(.*)>$/.exec(hive) ?? [];
  switch (kind) {
    case 'array':
      return { kind, element: parseColumnType(inner) };
    case 'map': {
      const [key, value, ...more] = splitOutside(inner);
      if (key !== 'string' || value === undefined || more.length > 0) throw unknownType(hive);
      return { kind, value: parseColumnType(value) };
    }
    case 'struct':
      return { kind, fields: splitOutside(inner).map(parseField) };
    default: {
      const plain = PLAIN.find((each) => each === hive);
      if (plain === undefined) throw unknownType(hive);
      return { kind: plain };
    }
  }
}

/**
 * Converts a type from Hive's notation to DuckDB's; fields of structs are in lower case. Throws the errors of
 * `parseColumnType`.
 */
export const duckDbType = (hive: string): string => duckDbTypeOf(parseColumnType(hive));

function duckDbTypeOf(type: ColumnType): string {
  switch (type.kind) {
    case 'array':
      return `${duckDbTypeOf(type.element)}[]`;
    case 'map':
      return `MAP(VARCHAR, ${duckDbTypeOf(type.value)})`;
    case 'struct':
      return `STRUCT(${type.fields.map((field) => `"${field.name.toLowerCase()}" ${duckDbTypeOf(field.type)}`).join(', ')})`;
    // JSON is a string here, since DuckDB's JSON type cannot hold numbers of any size.
    case 'string':
    case 'json':
      return 'VARCHAR';
    default:
      return type.kind.toUpperCase();
  }
}

const PLAIN = ['string', 'bigint', 'boolean', 'timestamp', 'json'] as const;

function parseField(field: string): StructField {
  const colon = field.indexOf(':');
  if (colon < 1) throw unknownType(field);
  return { name: field.slice(0, colon), type: parseColumnType(field.slice(colon + 1)) };
}

function splitOutside(list: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const character of list) {
    depth += character === '<' ? 1 : character === '>' ? -1 : 0;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}

const unknownType = (hive: string) =>
  new TypeError(
    `expected a type of Hive's: string, bigint, boolean, timestamp, json, array<…>, map<string,…> or struct<…>, got ${hive}`,
  );

/**
 * The Parquet schema of a table. Names are in lower case. Everything except the keys of maps may be null. Timestamps
 * are milliseconds in UTC, declared only by `converted_type`: DuckDB would read the newer notation in the session's
 * time zone.
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

/** Increase this whenever the same lines and columns lead to other rows. */
const VERSION = 4;

/**
 * Identifies the version of the writer and the columns, in 12 characters. Together with a part, they determine the
 * bytes of its Parquet.
 */
export const parquetFormat = (columns: TableColumns): string =>
  hash('sha256', JSON.stringify([VERSION, Object.entries(columns)])).slice(0, 12);

import type { HiveType } from '../../../lib/columns.ts';

const SCALARS: Readonly<Record<string, string>> = {
  string: 'VARCHAR',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  json: 'VARCHAR',
};

/** Converts a Hive type to DuckDB's notation. Throws `TypeError` for an unknown type. */
export function duckDbType(type: HiveType): string {
  const [, kind, inner = ''] = /^(array|map|struct)<(.*)>$/.exec(type) ?? [];
  switch (kind) {
    case 'array':
      return `${duckDbType(inner)}[]`;
    case 'map':
      return `MAP(${splitOutside(inner).map(duckDbType).join(', ')})`;
    case 'struct':
      return `STRUCT(${splitOutside(inner).map(fieldOf).join(', ')})`;
    default: {
      const scalar = SCALARS[type];
      if (scalar === undefined)
        throw new TypeError(
          `expected a type of Hive's (${Object.keys(SCALARS)}, array, map, struct), got ${type}`,
        );
      return scalar;
    }
  }
}

function fieldOf(field: string): string {
  const colon = field.indexOf(':');
  return `"${field.slice(0, colon)}" ${duckDbType(field.slice(colon + 1))}`;
}

/** Splits a list at the commas outside angle brackets. */
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

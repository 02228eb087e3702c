import type { HiveType } from '../lib/contract.ts';

/** How a dialect of SQL writes types. The fields of a row have their names from Hive's type. */
export type Dialect = {
  readonly scalars: Readonly<Record<string, string>>;
  array(item: string): string;
  map(key: string, value: string): string;
  row(fields: readonly { readonly name: string; readonly type: string }[]): string;
};

/** Athena's SQL, as views declare their columns. */
export const athena: Dialect = {
  scalars: { string: 'varchar', bigint: 'bigint', boolean: 'boolean', timestamp: 'timestamp(3)' },
  array: (item) => `array(${item})`,
  map: (key, value) => `map(${key},${value})`,
  row: (fields) => `row(${fields.map(({ name, type }) => `"${name.toLowerCase()}" ${type}`).join(',')})`,
};

/** A type of Hive's in another dialect. Throws `TypeError` on one that is not understood. */
export function sqlType(type: HiveType, dialect: Dialect): string {
  const [, kind, inner = ''] = /^(array|map|struct)<(.*)>$/.exec(type) ?? [];
  const of = (part: string) => sqlType(part, dialect);
  switch (kind) {
    case 'array':
      return dialect.array(of(inner));
    case 'map': {
      const [key = '', value = ''] = splitOutside(inner);
      return dialect.map(of(key), of(value));
    }
    case 'struct':
      return dialect.row(
        splitOutside(inner).map((field) => {
          const colon = field.indexOf(':');
          return { name: field.slice(0, colon), type: of(field.slice(colon + 1)) };
        }),
      );
    default: {
      const scalar = dialect.scalars[type];
      if (scalar === undefined)
        throw new TypeError(
          `expected a type of Hive's (${Object.keys(dialect.scalars)}, array, map, struct), got ${type}`,
        );
      return scalar;
    }
  }
}

/** Splits at the commas that are outside angle brackets. */
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

import type { HiveType } from '../../snapshot/sources/source-definition.ts';
import { identifier } from './quoted.ts';

/** A type in Hive's notation, taken apart. */
type Parsed = { readonly type: string; readonly rest: string };

const SCALARS: Readonly<Record<string, string>> = {
  string: 'VARCHAR',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  double: 'DOUBLE',
  timestamp: 'TIMESTAMP',
  // As text, since its numbers may be of any size.
  json: 'VARCHAR',
};

/** A type in Hive's notation as one of DuckDB's; fields of structs are in lower case. Throws `TypeError` for one that no table here has. */
export function duckDbType(hive: HiveType): string {
  const { type, rest } = parseType(hive);
  if (rest !== '') throw unknownType(hive);
  return type;
}

function parseType(text: string): Parsed {
  const [word = ''] = /^\w*/.exec(text) ?? [];
  const rest = text.slice(word.length);
  if (word === 'array') {
    const element = parseType(after('<', rest));
    return { type: `${element.type}[]`, rest: after('>', element.rest) };
  }
  if (word === 'map') {
    const key = parseType(after('<', rest));
    const value = parseType(after(',', key.rest));
    return { type: `MAP(${key.type}, ${value.type})`, rest: after('>', value.rest) };
  }
  if (word === 'struct') return parseStruct(after('<', rest));
  const type = SCALARS[word];
  if (type === undefined) throw unknownType(text);
  return { type, rest };
}

function parseStruct(text: string): Parsed {
  const fields: string[] = [];
  let left = text;
  for (;;) {
    const [, name = '', value = ''] = /^(\w+):([\s\S]*)$/.exec(left) ?? [];
    const field = parseType(value);
    fields.push(`${identifier(name.toLowerCase())} ${field.type}`);
    if (!field.rest.startsWith(','))
      return { type: `STRUCT(${fields.join(', ')})`, rest: after('>', field.rest) };
    left = field.rest.slice(1);
  }
}

function after(mark: string, text: string): string {
  if (!text.startsWith(mark)) throw unknownType(text);
  return text.slice(mark.length);
}

const unknownType = (text: string) => new TypeError(`expected a type of Hive, got ${JSON.stringify(text)}`);

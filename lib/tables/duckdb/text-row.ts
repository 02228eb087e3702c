import { parseOwnJson } from '../../json/json.ts';
import { nameAt, noMembers, readMembers } from '../../snapshot/changes/line-members.ts';
import { lineOf } from '../../snapshot/changes/line-reader.ts';
import type { Columns, HiveType } from '../../snapshot/sources/source-definition.ts';
import type { TextRow, TextValue } from './row-file.ts';

/**
 * A JSON object as a row of texts: a text as it is, any other value of a text column as its JSON, byte for byte, and so is
 * a text with half of a surrogate pair. Members without a column are left out, columns without a member are null. Throws `SyntaxError` if it is no object.
 */
export function textRowOf(json: Buffer, columns: Columns): TextRow {
  const line = lineOf(json);
  const members = noMembers();
  readMembers(line, members);
  const found = new Map(
    Array.from({ length: members.count }, (_, at) => [
      nameAt(line, members, at),
      json.toString('utf8', members.valueStarts[at], members.valueEnds[at]),
    ]),
  );
  return Object.fromEntries(
    Object.entries(columns).map(([name, type]) => [name.toLowerCase(), textValue(found.get(name), type)]),
  );
}

function textValue(json: string | undefined, type: HiveType): TextValue {
  if (json === undefined || json === 'null') return null;
  if (type === 'array<string>') return json.startsWith('[') ? listOf(json) : null;
  if (type === 'map<string,string>') return json.startsWith('{') ? mapOf(json) : null;
  return textOf(json);
}

/** DuckDB has no text with half of a surrogate pair: it stays JSON. */
function textOf(json: string): string {
  const text = json.startsWith('"') ? (parseOwnJson(json) as string) : json;
  return text.isWellFormed() ? text : json;
}

const listOf = (json: string): readonly string[] =>
  (parseOwnJson(json) as readonly unknown[]).map(plainOrJson);

const mapOf = (json: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(parseOwnJson(json) as object).map(([name, each]) => [
      plainOrJson(name),
      plainOrJson(each),
    ]),
  );

const plainOrJson = (value: unknown): string =>
  typeof value === 'string' && value.isWellFormed() ? value : JSON.stringify(value);

/** The columns with any JSON, by their names in SQL. */
export const jsonColumnsOf = (columns: Columns): readonly string[] =>
  Object.keys(columns)
    .filter((name) => columns[name] === 'json')
    .map((name) => name.toLowerCase());

import { canonicalJson } from '../../json/canonical-json.ts';
import { parseJson } from '../../json/json.ts';
import type { RecordRules } from '../sources/source-definition.ts';

/** What happened to one record from one run to the next. `before` and `after` are its lines in the parts. */
export type Change =
  | { readonly change: 'added'; readonly key: string; readonly after: string }
  | { readonly change: 'removed'; readonly key: string; readonly before: string }
  | {
      readonly change: 'changed';
      readonly key: string;
      readonly before: string;
      readonly after: string;
      /** The top-level fields that differ, in the order of their names; at least one. */
      readonly fields: readonly string[];
    };

/** The change from one line to another; undefined if they are equal, or neither exists. */
export function changeBetween(
  key: string,
  lines: { readonly before: string | undefined; readonly after: string | undefined },
  rules: Pick<RecordRules, 'volatile' | 'sets'>,
): Change | undefined {
  const { before, after } = lines;
  if (before === after) return undefined;
  if (before === undefined) return after === undefined ? undefined : { change: 'added', key, after };
  if (after === undefined) return { change: 'removed', key, before };
  const fields = differingFields(before, after, rules);
  return fields.length === 0 ? undefined : { change: 'changed', key, before, after, fields };
}

/** A change as one line of `_changes.ndjson.gz`, without the line end: the records byte for byte as in the parts. */
export function printChange(change: Change): string {
  const before = 'before' in change ? `,"before":${change.before}` : '';
  const after = 'after' in change ? `,"after":${change.after}` : '';
  const fields = 'fields' in change ? change.fields : [];
  return `{"change":"${change.change}","key":${JSON.stringify(change.key)}${before}${after},"fields":${JSON.stringify(fields)}}`;
}

/** The fields of a record by name; a line that is not an object has none. */
export function fieldsOf(line: string): ReadonlyMap<string, unknown> {
  const record = parseJson(line);
  return new Map(typeof record === 'object' && record !== null ? Object.entries(record) : []);
}

function differingFields(
  before: string,
  after: string,
  { volatile, sets }: Pick<RecordRules, 'volatile' | 'sets'>,
): string[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !volatile.includes(name));
  const print = (fields: ReadonlyMap<string, unknown>, name: string) =>
    fields.has(name) ? canonicalField(fields.get(name), sets.includes(name)) : undefined;
  return names.filter((name) => print(old, name) !== print(now, name)).sort();
}

function canonicalField(value: unknown, isSet: boolean): string {
  if (!isSet || !Array.isArray(value)) return canonicalJson(value);
  return `[${[...new Set(value.map(canonicalJson))].sort().join(',')}]`;
}

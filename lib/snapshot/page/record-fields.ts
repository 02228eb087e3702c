import { JsonLimitError } from '../../base/index.ts';
import { type JsonBytes, skipName } from './json-bytes.ts';
import type { FieldTypes, JsonType } from './record-batch.ts';
import { textAt } from './value-at.ts';

/** The most names of fields of a response or of a run, which are held as long as it is, and their characters. */
const MOST_NAMES = 10_000;
const MOST_CHARACTERS = 1_000_000;

/** Counts the names of a response, or of what `where` says. What it returns throws `JsonLimitError` if there are too many. */
export function countNames(where = 'a response'): (name: string) => void {
  let [names, characters] = [0, 0];
  return (name) => {
    names += 1;
    characters += name.length;
    if (names > MOST_NAMES)
      throw new JsonLimitError(
        `expected records with at most ${MOST_NAMES} different field names in ${where}, got more`,
      );
    if (characters > MOST_CHARACTERS)
      throw new JsonLimitError(
        `expected field names of at most ${MOST_CHARACTERS} characters in all in ${where}, got more`,
      );
  };
}

/** A set of JSON types is one number: the bits of its types. */
const JSON_TYPE_BITS = {
  string: 1,
  number: 2,
  boolean: 4,
  object: 8,
  array: 16,
  null: 32,
} as const satisfies Record<JsonType, number>;

function jsonTypesOf(bits: number): JsonType[] {
  const types = Object.keys(JSON_TYPE_BITS) as JsonType[];
  return types.filter((type) => (bits & JSON_TYPE_BITS[type]) !== 0);
}

/** The bit of a value's type, by its first byte. A byte that starts no other value starts a number, or is refused. */
const bitOfFirstByte = new Uint8Array(256).fill(JSON_TYPE_BITS.number);
for (const [first, type] of Object.entries({
  '"': 'string',
  t: 'boolean',
  f: 'boolean',
  '{': 'object',
  '[': 'array',
  n: 'null',
} as const)) {
  bitOfFirstByte[first.charCodeAt(0)] = JSON_TYPE_BITS[type];
}

/**
 * The top-level fields of a page's records, as small numbers, and the types seen in them. Most records have the same
 * layout: a name whose bytes come again in the order of before is not validated or decoded again.
 */
export type RecordFields = {
  readonly json: JsonBytes;
  readonly byName: Map<string, number>;
  readonly count: (name: string) => void;
  readonly types: number[];
  /** By field: the field that followed it last time. */
  readonly next: number[];
  /** By field: where its name starts in the place where it was last decoded. */
  readonly starts: number[];
  /** By field: the number of bytes of its name, its colon, and the space around the colon. */
  readonly lengths: number[];
};

/** Stands for the field before the first one of a record. */
export const BEFORE_FIRST = 0;

export function createRecordFields(json: JsonBytes): RecordFields {
  return {
    json,
    byName: new Map(),
    count: countNames(),
    types: [0],
    next: [BEFORE_FIRST],
    starts: [0],
    lengths: [0],
  };
}

/** The field of this name, which is added if it is new. */
export function fieldNamed(fields: RecordFields, name: string): number {
  const known = fields.byName.get(name);
  if (known !== undefined) return known;
  fields.count(name);
  const field = fields.types.length;
  fields.byName.set(name, field);
  fields.types.push(0);
  fields.next.push(BEFORE_FIRST);
  fields.starts.push(0);
  // No bytes are the same as none: a field that was never seen.
  fields.lengths.push(0);
  return field;
}

/** The field whose name starts at `at`, after the field `previous`. Its value, or space, follows its `lengths`. */
export function fieldAt(fields: RecordFields, previous: number, at: number): number {
  const expected = fields.next[previous] ?? BEFORE_FIRST;
  if (isRepeated(fields.json, at, fields.starts[expected] ?? 0, fields.lengths[expected] ?? 0))
    return expected;
  const length = skipName(fields.json, at) - at;
  const field = fieldNamed(fields, textAt(fields.json, at));
  fields.next[previous] = field;
  fields.starts[field] = at;
  fields.lengths[field] = length;
  return field;
}

/** Adds the type of the value at `at` to those seen in a field. */
export function addType(fields: RecordFields, field: number, at: number): void {
  const bit = bitOfFirstByte[fields.json.bytes[at] ?? 0] ?? 0;
  fields.types[field] = (fields.types[field] ?? 0) | bit;
}

/** The JSON types seen in each field, by its name; fields without a value are left out. */
export function typesSeen(fields: RecordFields): FieldTypes {
  const named = [...fields.byName].map(([name, field]) => [name, fields.types[field] ?? 0] as const);
  return Object.fromEntries(
    named.filter(([, bits]) => bits !== 0).map(([name, bits]) => [name, jsonTypesOf(bits)]),
  );
}

/** Compares four bytes at a time; the last four may overlap those before them. False for fewer than four. */
function isRepeated({ bytes, view }: JsonBytes, at: number, earlier: number, length: number): boolean {
  const last = length - 4;
  if (last < 0 || at + length > bytes.length) return false;
  for (let index = 0; index < last; index += 4) {
    if (view.getInt32(at + index) !== view.getInt32(earlier + index)) return false;
  }
  return view.getInt32(at + last) === view.getInt32(earlier + last);
}

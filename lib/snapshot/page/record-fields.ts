import { type JsonBytes, JsonLimitError, skipName } from '../../base/json/index.ts';
import { textAt } from './value-at.ts';

export type FieldTypes = Record<string, JsonType[]>;
type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Some records, in order: as many lines as keys. */
export type RecordPiece = {
  readonly keys: readonly string[];
  /** The records as NDJSON in UTF-8; every line ends in a line feed. */
  readonly lines: Uint8Array;
  /** The byte after each record's line. */
  readonly ends: Uint32Array;
  /** Frees the memory of `lines`. Optional to call, and only once they are written. */
  readonly release?: () => void;
};

/** Records on their way to a part, in order. */
export type RecordBatch = {
  readonly records: number;
  /**
   * Built when requested, so that memory does not hold all lines. To be read once: they may reuse the response's
   * memory.
   */
  readonly pieces: () => Iterable<RecordPiece>;
  readonly fields: FieldTypes;
  /** Names of records of the same response that lack an id and are left out. Default: none. */
  readonly unnamed?: readonly string[] | undefined;
  /** The bytes of memory that it holds until it is released. */
  readonly heldBytes: number;
  /** Frees that memory. Optional to call, and only once all pieces are written, or if none is needed anymore. */
  readonly release?: () => void;
};

export const emptyBatch: RecordBatch = { records: 0, pieces: () => [], fields: {}, heldBytes: 0 };

/** Maximum names of fields that are held for a response or a run, and maximum characters of them together. */
const MAX_NAMES = 10_000;
const MAX_CHARACTERS = 1_000_000;

/**
 * Counts the names of a response, or of `where`. The function that it returns throws `JsonLimitError` if they are too
 * many.
 */
export function countNames(where = 'a response'): (name: string) => void {
  let [names, characters] = [0, 0];
  return (name) => {
    names += 1;
    characters += name.length;
    if (names > MAX_NAMES)
      throw new JsonLimitError(
        `expected records with at most ${MAX_NAMES} different field names in ${where}, got more`,
      );
    if (characters > MAX_CHARACTERS)
      throw new JsonLimitError(
        `expected field names of at most ${MAX_CHARACTERS} characters in all in ${where}, got more`,
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

/** The bit of a value's type, by its first byte. Any other first byte starts a number, or is refused. */
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

/** A top-level field of a page's records. */
type RecordField = {
  /** The first one is 0. */
  readonly number: number;
  /** The bits of the types seen in it. */
  types: number;
  /** The field that followed it the last time. */
  next: RecordField | undefined;
  /** The start of its name where it was last decoded. */
  start: number;
  /** The number of bytes of its name, its colon, and the space around the colon. */
  length: number;
};

/**
 * The top-level fields of a page's records, and the types seen in them. Most records have the same layout: a name that
 * comes again with the same bytes in the same order is not validated or decoded again.
 */
type RecordFields = {
  readonly json: JsonBytes;
  readonly byName: Map<string, RecordField>;
  readonly count: (name: string) => void;
  /** Stands before the first field of a record. */
  readonly beforeFirst: RecordField;
};

export const createRecordFields = (json: JsonBytes): RecordFields => ({
  json,
  byName: new Map(),
  count: countNames(),
  beforeFirst: newField(-1),
});

const newField = (number: number): RecordField => ({
  number,
  types: 0,
  next: undefined,
  start: 0,
  length: 0,
});

/** The field of this name; a new one is added. */
export function fieldNamed({ byName, count }: RecordFields, name: string): RecordField {
  const known = byName.get(name);
  if (known !== undefined) return known;
  count(name);
  const field = newField(byName.size);
  byName.set(name, field);
  return field;
}

/** The field whose name starts at `at`, after the field `previous`. Its value, or space, follows its `length`. */
export function fieldAt(fields: RecordFields, previous: RecordField, at: number): RecordField {
  const { json } = fields;
  const expected = previous.next;
  if (expected !== undefined && isRepeated(json, at, expected)) return expected;
  const length = skipName(json, at) - at;
  const field = fieldNamed(fields, textAt(json, at));
  previous.next = field;
  field.start = at;
  field.length = length;
  return field;
}

/** Adds the type of the value at `at` to those seen in a field. */
export function addType({ bytes }: JsonBytes, field: RecordField, at: number): void {
  field.types |= bitOfFirstByte[bytes[at] ?? 0] ?? 0;
}

/** The JSON types seen in each field, by its name; fields without a value are left out. */
export function typesSeen({ byName }: RecordFields): FieldTypes {
  const seen = [...byName].filter(([, { types }]) => types !== 0);
  return Object.fromEntries(seen.map(([name, { types }]) => [name, jsonTypesOf(types)]));
}

/**
 * Compares four bytes at a time. The last four may overlap those before them; of an empty name, they include the byte
 * before it.
 */
function isRepeated({ bytes, view }: JsonBytes, at: number, { start, length }: RecordField): boolean {
  const last = length - 4;
  if (at + length > bytes.length) return false;
  for (let index = 0; index < last; index += 4) {
    if (view.getInt32(at + index) !== view.getInt32(start + index)) return false;
  }
  return view.getInt32(at + last) === view.getInt32(start + last);
}

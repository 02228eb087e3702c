import { type JsonBytes, JsonLimitError, skipName } from '../../base/json/index.ts';
import { stringAt } from './value-at.ts';

type FieldTypes = Record<string, JsonType[]>;
type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Some records of a batch, in order. Each has a key and a line. */
export type RecordPiece = {
  readonly keys: readonly string[];
  /** The records as NDJSON in UTF-8; every line ends in a line feed. */
  readonly lines: Uint8Array;
  /** For each record, the index after its line. */
  readonly ends: Uint32Array;
  /** Frees the memory of `lines`. Calling it is optional, and allowed only after the lines have been written. */
  readonly release?: () => void;
};

/** Records to write into parts, in order. */
export type RecordBatch = {
  readonly records: number;
  /** Builds the lines piece by piece, so that memory does not hold all of them. */
  readonly pieces: () => Iterable<RecordPiece>;
  /** The JSON types seen in each top-level field, by its name. */
  readonly fields: FieldTypes;
  /** Labels of records of the same response that were left out because they lack an id. Default: none. */
  readonly unnamed?: readonly string[] | undefined;
  /** The bytes of memory that the batch holds until it is released. */
  readonly heldBytes: number;
  /**
   * Frees that memory. Calling it is optional, and allowed only after all pieces have been written, or when they are no
   * longer needed.
   */
  readonly release?: () => void;
};

/** A batch without records. */
export const emptyBatch: RecordBatch = { records: 0, pieces: () => [], fields: {}, heldBytes: 0 };

/** Maximum different field names in a response or a run, and maximum characters of all these names together. */
const MAX_NAMES = 10_000;
const MAX_CHARACTERS = 1_000_000;

/**
 * Creates a function that counts different field names. It throws `JsonLimitError` if there are too many. `where`: what
 * has the names, for the message.
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
        `expected field names in ${where} to have at most ${MAX_CHARACTERS} characters in total, got more`,
      );
  };
}

/** One bit for each JSON type; a set of types is the sum of their bits. */
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

/**
 * The bit of a value's type, by the first byte of the value. A byte that is not listed below starts a number, or is
 * invalid.
 */
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
  /** The number of the field; 0 is the first. */
  readonly number: number;
  /** The bits of the types that were seen in the field. */
  types: number;
  /** The field that came after this one in the last record that has it. */
  next: RecordField | undefined;
  /** The position of its name where it was last decoded. */
  start: number;
  /** The number of bytes of its name, its colon, and the space around the colon. */
  length: number;
};

/**
 * The top-level fields of a page's records, and the types seen in them. Most records have the same fields in the same
 * order, so a name with the same bytes as the expected one is not validated or decoded again.
 */
type RecordFields = {
  readonly json: JsonBytes;
  readonly byName: Map<string, RecordField>;
  readonly count: (name: string) => void;
  /** A placeholder that comes before the first field of a record. */
  readonly beforeFirst: RecordField;
};

/** Creates the fields of a page, before its first record is read. */
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

/** The field with this name; it is added if it is new. */
export function fieldNamed({ byName, count }: RecordFields, name: string): RecordField {
  const known = byName.get(name);
  if (known !== undefined) return known;
  count(name);
  const field = newField(byName.size);
  byName.set(name, field);
  return field;
}

/**
 * The field whose name starts at `at`, after the field `previous`. Its value starts `length` bytes later, or after
 * further space.
 */
export function fieldAt(fields: RecordFields, previous: RecordField, at: number): RecordField {
  const { json } = fields;
  const expected = previous.next;
  if (expected !== undefined && isRepeated(json, at, expected)) return expected;
  const length = skipName(json, at) - at;
  const field = fieldNamed(fields, stringAt(json, at));
  previous.next = field;
  field.start = at;
  field.length = length;
  return field;
}

/** Adds the type of the value at `at` to the types seen in a field. */
export function addType({ bytes }: JsonBytes, field: RecordField, at: number): void {
  field.types |= bitOfFirstByte[bytes[at] ?? 0] ?? 0;
}

/** The JSON types seen in each field, by its name; fields without a value are left out. */
export function typesSeen({ byName }: RecordFields): FieldTypes {
  const seen = [...byName].filter(([, { types }]) => types !== 0);
  return Object.fromEntries(seen.map(([name, { types }]) => [name, jsonTypesOf(types)]));
}

/**
 * Whether the name at `at` has the same bytes as the field's. Compares four bytes at a time; the last four may overlap
 * those before them, and for an empty name they include the byte before it.
 */
function isRepeated({ bytes, view }: JsonBytes, at: number, { start, length }: RecordField): boolean {
  const last = length - 4;
  if (at + length > bytes.length) return false;
  for (let index = 0; index < last; index += 4) {
    if (view.getInt32(at + index) !== view.getInt32(start + index)) return false;
  }
  return view.getInt32(at + last) === view.getInt32(start + last);
}

import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  isFilledText,
  type JsonBytes,
  JsonLimitError,
  OPEN_ARRAY,
  OPEN_OBJECT,
  parseJson,
  skipSpace,
  skipValue,
  unexpected,
} from '../../base/json/index.ts';
import { type Id, idDigits, MAX_ID_DIGITS } from '../../platform/index.ts';
import { idIn, oddMembers, type RecordsIn } from '../../platform/operations/index.ts';
import { addType, createRecordFields, fieldAt, fieldNamed, typesSeen } from './record-fields.ts';
import { createRecordIndex, growIndex } from './record-index.ts';
import { scalarAt } from './value-at.ts';

/** Which fields to look for in the records of a response. */
export type WantedFields = {
  readonly key: string;
  /**
   * Other fields that may identify a record whose key field has no valid key. The first of them with a valid key is
   * used. Default: none.
   */
  readonly orElse?: readonly string[];
  /** `integer`: an integer, or its digits as a string. `text`: a string that is not empty. */
  readonly keyIs: 'integer' | 'text';
  /** Other fields whose positions are needed. Default: none. */
  readonly others?: readonly string[];
  /** The field with the name that users see. For messages, it identifies a record without a key. */
  readonly label?: string;
  /** Maximum records in a list. Default: no maximum. */
  readonly maxRecords?: number;
};

/** The fields to look for in the records of an operation's response: its key, and `more`. */
export const wantedFields = (
  { keys: [key = '', ...orElse], keyIs }: RecordsIn,
  more: Partial<WantedFields> = {},
): WantedFields => ({
  key,
  orElse,
  keyIs,
  ...more,
});

/** The records of a response that was not parsed, as positions in its bytes. */
export type FoundRecords = {
  readonly json: JsonBytes;
  readonly wanted: WantedFields;
  /** The number of records. The index may have more rows, which have no meaning. */
  records: number;
  readonly index: ReturnType<typeof createRecordIndex>;
  readonly fields: ReturnType<typeof createRecordFields>;
  /** The position after the record, or after the array that contains the records. */
  end: number;
  /**
   * The labels of elements that are not records, because they are not objects with a key; empty for one without a
   * label.
   */
  readonly keyless: string[];
};

/**
 * Finds the records of the array at `start`, and validates the whole array. `depth`: how deep the array itself is nested.
 * Throws `SyntaxError`, or `JsonLimitError` for more than `maxRecords` records.
 */
export function findRecords(
  json: JsonBytes,
  start: number,
  depth: number,
  wanted: WantedFields,
): FoundRecords {
  const { bytes } = json;
  const { maxRecords = Number.POSITIVE_INFINITY } = wanted;
  const collector = createCollector(json, depth + 1, wanted);
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_ARRAY) return finish(collector, at + 1);
  for (;;) {
    if (collector.found.records === maxRecords) throw tooManyRecords(maxRecords);
    at = skipSpace(bytes, addRecord(collector, at));
    if (!collector.hasKey) dropKeyless(collector.found);
    if (bytes[at] === CLOSE_ARRAY) return finish(collector, at + 1);
    if (bytes[at] !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

/** Finds the value that starts at `start`, as the only record. */
export function findRecord(json: JsonBytes, start: number, wanted: WantedFields): FoundRecords {
  const collector = createCollector(json, 0, wanted);
  return finish(collector, addRecord(collector, start));
}

/**
 * Adds nested records after all others: the elements of the lists in one wanted field, and of the same field in the
 * nested records. `column`: the column of that field in the index. An element without a key is left out and recorded in
 * `keyless`.
 */
export function addNested(found: FoundRecords, column: number): void {
  const { json, index } = found;
  const { bytes } = json;
  const collector = { found, depth: 0, hasKey: true };
  for (let record = 0; record < found.records; record += 1) {
    const list = index.values[column]?.[record] ?? NONE;
    if (list === NONE || bytes[list] !== OPEN_ARRAY) continue;
    for (let at = skipSpace(bytes, list + 1); bytes[at] !== CLOSE_ARRAY; at = skipSpace(bytes, at)) {
      at = addRecord(collector, bytes[at] === COMMA ? skipSpace(bytes, at + 1) : at);
      if (!collector.hasKey) dropKeyless(found);
    }
  }
}

/**
 * Parses a field that need not be a wanted field; undefined if it is absent. It scans the whole record again, so do not
 * use it for many records.
 */
function fieldOf({ json, index }: FoundRecords, record: number, name: string): unknown {
  const again = findRecord(json, index.starts[record] ?? 0, { key: name, keyIs: 'text' });
  return scalarAt(json, again.index.values[0]?.[0] ?? NONE);
}

/** Removes the last record, since it is not an object with a key. */
function dropKeyless(found: FoundRecords): void {
  const { wanted, index } = found;
  found.records -= 1;
  index.digits.delete(found.records);
  const text = wanted.label === undefined ? undefined : fieldOf(found, found.records, wanted.label);
  found.keyless.push(typeof text === 'string' ? text.slice(0, MAX_LABEL_LENGTH) : '');
  for (const column of index.values) column[found.records] = NONE;
}

const MAX_LABEL_LENGTH = 200;

/**
 * Throws `Error` if no element of a list has a key. If only some lack one, they are left out, and the batch reports
 * them. `what`: the kind of record, such as `card`.
 */
export function refuseKeyless({ wanted, records, keyless: [label] }: FoundRecords, what: string): void {
  if (records > 0 || label === undefined) return;
  const named = label === '' ? '' : ` (“${label}”)`;
  const key = wanted.keyIs === 'text' ? 'a string' : `an integer of at most ${MAX_ID_DIGITS} digits`;
  throw new Error(`${what} 0${named}: expected an object with ${key} as its ${wanted.key}`);
}

const tooManyRecords = (maxRecords: number) =>
  new JsonLimitError(`expected at most ${maxRecords} records in a page, got more`);

type Collector = {
  readonly found: FoundRecords;
  readonly depth: number;
  /** Whether the last record has a key. */
  hasKey: boolean;
};

/**
 * The position of a missing value. It is 0, since no field's value starts at the first byte of a response, and a new
 * row of the index has only zeros.
 */
const NONE = 0;

function createCollector(json: JsonBytes, depth: number, wanted: WantedFields): Collector {
  const fields = createRecordFields(json);
  const names = new Set([wanted.key, ...(wanted.orElse ?? []), ...(wanted.others ?? [])]);
  // The first fields have the numbers 0, 1 and so on.
  for (const name of names) fieldNamed(fields, name);
  const index = createRecordIndex(names.size, wanted.keyIs);
  const found = { json, wanted, records: 0, index, fields, end: 0, keyless: [] };
  return { found, depth, hasKey: true };
}

function finish({ found }: Collector, end: number): FoundRecords {
  found.end = end;
  return found;
}

/** Adds the value at `start` as a record. Returns the index after the value. */
function addRecord(collector: Collector, start: number): number {
  const { found, depth } = collector;
  const { json, index, records: record } = found;
  if (record === index.starts.length) growIndex(index);
  const isRecord = json.bytes[start] === OPEN_OBJECT;
  const end = isRecord ? skipRecord(found, start, depth) : skipValue(json, start, depth);
  index.starts[record] = start;
  index.ends[record] = end;
  found.records = record + 1;
  collector.hasKey = isRecord && addKey(found, record);
  return end;
}

/** Skips the record that starts at `start`, and adds the positions of its wanted fields as the next row. */
function skipRecord({ json, fields, index, records }: FoundRecords, start: number, depth: number): number {
  const { bytes } = json;
  let field = fields.beforeFirst;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    field = fieldAt(fields, field, at);
    // `field.length` was measured in an earlier record, so here more space may follow.
    const value = skipSpace(bytes, at + field.length);
    const column = index.values[field.number];
    if (column !== undefined) column[records] = value;
    addType(json, field, value);
    at = skipSpace(bytes, skipValue(json, value, depth + 1));
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

/** Adds the key of a record, from the first of its key fields with a valid key; false if no field has one. */
function addKey({ json, wanted, index }: FoundRecords, record: number): boolean {
  const { values, numbers, digits } = index;
  const position = values[0]?.[record] ?? NONE;
  if (wanted.keyIs === 'text') return position !== NONE && isFilledText(json, position);
  const key = integerAt(json, position) ?? otherKey(json, wanted, values, record);
  if (key === undefined) return false;
  numbers[record] = typeof key === 'number' ? key : Number.NaN;
  if (typeof key !== 'number') digits.set(record, key);
  return true;
}

function otherKey(
  json: JsonBytes,
  { orElse = [] }: WantedFields,
  values: readonly Uint32Array[],
  record: number,
): number | Id | undefined {
  for (const [at, name] of orElse.entries()) {
    const id = idIn(name, scalarAt(json, values[at + 1]?.[record] ?? NONE));
    if (id !== undefined) return numberIfShort(id);
  }
  return undefined;
}

/** Whether a record is an object: `findRecord` accepts any value. */
export const isRecord = ({ json, index }: FoundRecords, record: number): boolean =>
  json.bytes[index.starts[record] ?? 0] === OPEN_OBJECT;

/** Whether a record's integer key was read from the key's own field, rather than from another field or the request. */
export const hasOwnKey = ({ json, index }: FoundRecords, record: number): boolean =>
  integerAt(json, index.values[0]?.[record] ?? NONE) !== undefined;

/** The members that differ from the platform's contract, as `oddMembers` describes them. */
export const findOddMembers = (
  { fields, records }: FoundRecords,
  { members }: Pick<RecordsIn, 'members'>,
): readonly string[] => {
  const types = typesSeen(fields);
  return records === 0 ? [] : oddMembers(members, (name) => types[name] ?? ['none']);
};

/**
 * The integer at `start`: a number if it has at most 15 digits, otherwise its digits; undefined if the value is missing
 * or not an integer.
 */
function integerAt(json: JsonBytes, start: number): number | Id | undefined {
  if (start === NONE) return undefined;
  const { bytes } = json;
  const end = skipValue(json, start, 0);
  if (end - start > MAX_KEY_LENGTH) return undefined;
  return numberIfShort(idDigits(parseJson(bytes.toString('utf8', start, end))));
}

/** An id as a number if it has at most 15 digits, since a number takes no extra memory. */
const numberIfShort = (id: Id | undefined): number | Id | undefined =>
  id === undefined || id.length > EXACT_DIGITS ? id : Number(id);

/** Any integer of up to this many digits is exact as a number. */
const EXACT_DIGITS = 15;

/** Maximum bytes of a key: its digits, and possibly a sign, or quotes if it is sent as a string. */
const MAX_KEY_LENGTH = MAX_ID_DIGITS + 3;
